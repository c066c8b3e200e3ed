"""Statements on queues."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class QueueView:
    """A queue and how much of its work is where.

    Attributes:
        paused: nothing is claimed from it now; the other `pause` fields say since when, by whom, why, until
        when.
        oldest_seconds: how long the oldest queued job has been ready, None where none is.
        next_due_seconds: until the next scheduled job is due (negative: overdue), None where none is.
    """

    name: str
    priority: int
    lane: str
    paused: bool
    paused_at: datetime | None
    paused_by: str | None
    pause_reason: str | None
    resume_at: datetime | None
    queued: int
    scheduled: int
    blocked: int
    running: int
    dead_letters: int
    oldest_seconds: float | None
    next_due_seconds: float | None


def list_queues(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[QueueView]]:
    """Every queue with its depth by state, the most urgent first."""
    return Statement(
        "list_queues", sql("queues/list_queues", schema), (), lambda rows: [QueueView(*r) for r in rows]
    )


def queue_names(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[str]]:
    """The names of all queues."""
    return Statement(
        "queue_names", sql("queues/queue_names", schema), (), lambda rows: [row[0] for row in rows]
    )


def pause_queue(
    name: str,
    *,
    reason: str | None = None,
    resume_at: datetime | None = None,
    actor: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[bool]:
    """Stops claims from a queue until it is resumed, or until `resume_at`. False: there is no such queue."""
    args = (name, reason, resume_at, actor)
    return Statement("pause_queue", sql("queues/pause_queue", schema), args, lambda rows: bool(rows[0][0]))


def resume_queue(name: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[bool]:
    """Opens a queue again. False: there is no such queue."""
    return Statement(
        "resume_queue", sql("queues/resume_queue", schema), (name,), lambda rows: bool(rows[0][0])
    )
