"""What the story notes for its last page."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Searched:
    """One search, by the words and by their meaning: the names that were found, best first."""

    words: str
    by_words: list[str]
    by_meaning: list[str]


@dataclass(slots=True)
class Facts:
    """`answers` are the milliseconds of each POST and PATCH; `since` is when the story began."""

    since: datetime
    answers: list[float] = field(default_factory=list)
    searched: list[Searched] = field(default_factory=list)
    edits: int = 0
    calls_for_edits: int = 0
    statistics: list[dict[str, Any]] = field(default_factory=list)
    dead: int = 0
    fallback: str | None = None
    replayed: int = 0
    kept: list[dict[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def expect(self, fine: bool, fault: str) -> None:
        """Note what should not be."""
        if not fine:
            self.faults.append(fault)
