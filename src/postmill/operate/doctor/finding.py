"""What one check of the doctor found."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """How bad it is: fine, worth a look, or broken."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


_RANK = {Level.OK: 0, Level.WARN: 1, Level.FAIL: 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's report.

    Attributes:
        check: stable name of the check.
        level: how bad it is.
        summary: what was seen, in one line.
        advice: what to do about it; empty where nothing is to be done.
        details: the rows behind the summary, as plain data.
    """

    check: str
    level: Level
    summary: str
    advice: str = ""
    details: list[dict[str, Any]] = field(default_factory=list)


def worst(findings: list[Finding]) -> Level:
    """The level of the whole: that of the worst finding."""
    return max((finding.level for finding in findings), key=_RANK.__getitem__, default=Level.OK)
