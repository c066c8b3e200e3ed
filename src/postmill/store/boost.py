"""Statements on jobs that have risen by waiting."""

from __future__ import annotations

from uuid import UUID

from postmill.domain.boost import Raised
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


def read_boost(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[Raised | None]:
    """How a job within the scope has risen, lately; None: it has not."""
    return Statement(
        "read_boost",
        sql("jobs/read_boost", schema),
        (id,),
        lambda rows: Raised(*rows[0]) if rows else None,
    )
