"""Instants as the API takes them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime

FIRST = datetime(1970, 1, 1, tzinfo=UTC)
LAST = datetime(9000, 1, 1, tzinfo=UTC)


def _bounded(moment: datetime) -> datetime:
    if not FIRST <= moment < LAST:
        raise ValueError("must be from the year 1970 to 8999")
    return moment.astimezone(UTC)


Moment = Annotated[AwareDatetime, AfterValidator(_bounded)]
"""An instant with its offset (RFC 3339), within what every side of the wire can hold."""
