"""Which dead letters are meant, and how a bulk act goes about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from math import isfinite
from typing import Any, Literal
from uuid import UUID

from postmill.domain.errors import InvalidValue

Kind = Literal["replay", "discard"]

MOST_RATE = 10_000.0
"""Letters a second; no database does more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterFilter:
    """Open dead letters that have all of this; None is whatever.

    Attributes:
        ids: these ones.
        message: a part of the error's message, in any case.
        given_up_after, given_up_before: bounds of the moment at which the job was given up, with a time zone; the
            second one is not part of it.
    """

    tenant_id: UUID | None = None
    queue: str | None = None
    reason: str | None = None
    job_type: str | None = None
    error_group: str | None = None
    error_class: str | None = None
    error_code: str | None = None
    error_status: int | None = None
    message: str | None = None
    given_up_after: datetime | None = None
    given_up_before: datetime | None = None
    ids: Sequence[UUID] | None = None

    def __post_init__(self) -> None:
        for name in ("given_up_after", "given_up_before"):
            moment = getattr(self, name)
            if moment is not None and moment.utcoffset() is None:
                raise InvalidValue(f"{name} is a datetime without a time zone; give it one")

    @property
    def json(self) -> dict[str, Any]:
        """What is asked for, as the database keeps it."""
        made: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            if field.name == "ids":
                made["ids"] = [str(id) for id in value]
            elif isinstance(value, datetime):
                made[field.name] = value.isoformat()
            else:
                made[field.name] = value if isinstance(value, int) else str(value)
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How an operation goes about its letters.

    Attributes:
        rate: letters a second at most; None: as many as a worker gets done.
        canary: so many are replayed first, and the rest waits until all of them have succeeded; one that does not
            pauses the operation. 0: no canary.
        again: also those that were replayed before, if that replay has ended.
        confirm: somebody was asked: also those whose definition says `replay_class = ask`.
        despite_success: also those of which a later job with the same key, or the same type and payload, has succeeded.
        version: only once the definition is at this version; None: at any.
    """

    rate: float | None = None
    canary: int = 0
    again: bool = False
    confirm: bool = False
    despite_success: bool = False
    version: int | None = None

    def __post_init__(self) -> None:
        if self.rate is not None and not (isfinite(self.rate) and 0 < self.rate <= MOST_RATE):
            raise InvalidValue(
                f"rate: expected letters a second, above 0 and at most {MOST_RATE:g}, got {self.rate}"
            )
        if not 0 <= self.canary <= 100_000:
            raise InvalidValue(f"canary: expected a number of letters from 0 to 100,000, got {self.canary}")

    def check(self, kind: Kind) -> None:
        """Raises InvalidValue for what a discard cannot have."""
        if kind == "discard":
            for name in ("canary", "again", "confirm", "despite_success", "version"):
                if getattr(self, name):
                    raise InvalidValue(f"{name} goes with a replay only: a discard runs nothing")

    @property
    def json(self) -> dict[str, Any]:
        """What is not the default."""
        made = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in made.items() if value not in (None, False, 0)}
