"""Statements on jobs that have risen by waiting."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class QueueBoost:
    """How jobs of a queue rise: by `step` for each `after_seconds` that they wait, up to `up_to`; `raised`: so many wait so."""

    after_seconds: float
    step: int
    up_to: int
    raised: int


def read_queue_boost(name: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[QueueBoost | None]:
    """How jobs of this queue rise by waiting; None: they do not."""
    return Statement(
        "read_queue_boost",
        sql("queues/read_queue_boost", schema),
        (name,),
        lambda rows: QueueBoost(*rows[0]) if rows else None,
    )
