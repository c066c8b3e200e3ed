"""What does not go on, and no incident tells of: queues that nobody serves, schedules that wait for a job of theirs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement

QUIET = 30.0
"""Seconds for which a job may wait in a queue that no live worker serves: so long workers may take to be replaced."""

SHOWN = 3
"""So many of each kind are told of."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """One of them.

    Attributes:
        what: `queue` has waiting jobs and no live worker; `trigger` left out its last three runs, since its job is not over.
        name: of the queue, or the trigger's label; `id`: the trigger's.
        job_id: what the trigger waits for.
        waiting: jobs of the queue, counted up to 10,000.
        since: when the oldest job of the queue became due; when the trigger made the job that it waits for.
        tenants: slugs of those whose jobs wait, three at most, as measured last; the trigger's own.
    """

    what: Literal["queue", "trigger"]
    name: str
    id: UUID | None
    job_id: UUID | None
    waiting: int | None
    since: datetime
    tenants: list[str]


def read_stuck(most: int = SHOWN, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[Stuck]]:
    """What does not go on, `most` of each kind, the longest first; nothing to a tenant."""
    return Statement(
        "read_stuck",
        sql("console/read_stuck", schema),
        (most, QUIET),
        lambda rows: [Stuck(*row) for row in rows],
    )
