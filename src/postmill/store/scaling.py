"""Statements on what a queue has to do, and who does it."""

from __future__ import annotations

from datetime import datetime

from postmill.domain.scaling import Load
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement

Loads = dict[str, tuple[datetime, Load]]
"""By queue, the most urgent first: when it was measured, by the database's clock, and what."""


def read_scaling(name: str | None = None, *, schema: str = DEFAULT_SCHEMA) -> Statement[Loads]:
    """Of every queue, or of the one of this name; nothing for who does not see the platform."""
    return Statement(
        "read_scaling",
        sql("queues/read_scaling", schema),
        (name,),
        lambda rows: {row[0]: (row[-1], Load(*row[1:-1])) for row in rows},
    )
