"""Which dead letters are meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.domain.errors import InvalidValue


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
