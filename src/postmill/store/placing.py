"""Statements that give waiting jobs another queue or another moment; see `doors` for who acts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from postmill.domain.job_options import ActorType
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement


@dataclass(frozen=True, slots=True)
class Placed:
    """changed | unchanged (it is there) | blocked (waits for parents) | running | finished | contended (try again) | unknown."""

    id: UUID
    status: str


def door_move_jobs(
    ids: Sequence[UUID],
    queue: str,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Placed]]:
    """Takes jobs that wait into a queue, by its exact name. Queues are the platform's: to a tenant all are unknown."""
    args = (list(ids), queue, reason, actor_type, actor_id)
    return Statement("door_move_jobs", sql("jobs/door_move_jobs", schema), args, _placed)


def door_schedule_jobs(
    ids: Sequence[UUID],
    run_at: datetime,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Placed]]:
    """Makes jobs that wait due at a moment; one that has passed is now."""
    args = (list(ids), run_at, reason, actor_type, actor_id)
    return Statement("door_schedule_jobs", sql("jobs/door_schedule_jobs", schema), args, _placed)


def _placed(rows: Rows) -> list[Placed]:
    return [Placed(*row) for row in rows]
