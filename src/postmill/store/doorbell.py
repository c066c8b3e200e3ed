"""Waking workers, where an enqueue could not: see docs on two-phase commit."""

from __future__ import annotations

from collections.abc import Sequence

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


def ring(queues: Sequence[str], *, schema: str = DEFAULT_SCHEMA) -> Statement[None]:
    """Wakes a worker of each of these queues, if one sleeps; the notification goes with the caller's commit."""
    nothing = [None] * len(queues)
    return Statement("ring", sql("upkeep/ring", schema), (list(queues), nothing, nothing), lambda rows: None)
