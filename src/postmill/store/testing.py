"""Statements for tests of applications."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


def move_clock(
    to: datetime | None, by: timedelta | None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[datetime]:
    """Moves a frozen clock to a moment, or by a length; the answer is where it stands."""
    return Statement("move_clock", sql("testing/move_clock", schema), (to, by), lambda rows: rows[0][0])


def unfinished(job_types: Sequence[str], *, schema: str = DEFAULT_SCHEMA) -> Statement[int]:
    """How many jobs of these types run, or could run now."""
    return Statement(
        "unfinished", sql("testing/unfinished", schema), (list(job_types),), lambda rows: rows[0][0]
    )
