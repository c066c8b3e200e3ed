"""Instants as the API takes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BeforeValidator

FIRST = datetime(1970, 1, 1, tzinfo=UTC)
LAST = datetime(9000, 1, 1, tzinfo=UTC)

_WRITTEN = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def _written(value: Any) -> Any:
    # Numbers would be taken for seconds since 1970, or for milliseconds if they are large.
    if isinstance(value, datetime) or (isinstance(value, str) and _WRITTEN.fullmatch(value)):
        return value
    raise ValueError("must be a date and time with an offset, like 2026-02-16T10:30:00Z (RFC 3339)")


def _bounded(moment: datetime) -> datetime:
    if not FIRST <= moment < LAST:
        raise ValueError("must be from the year 1970 to 8999")
    return moment.astimezone(UTC)


Moment = Annotated[AwareDatetime, BeforeValidator(_written), AfterValidator(_bounded)]
"""An instant with its offset (RFC 3339, section 5.6), within what every side of the wire can hold."""
