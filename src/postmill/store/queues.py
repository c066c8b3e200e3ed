"""Statements on queues."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from postmill.domain.queue import Queue
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
        owner, contact, color: who answers for it.
        sla_seconds, wait_target_seconds, run_target_seconds: what is promised of the P95 of total, wait and run.
        escalation: the policy, or channel, for jobs that are given up.
        attained: the share of the last hour's jobs done within `sla_seconds`; None: none ended, or nothing is promised.
        burn: how quickly the five percent that may be late are used up; 1 is exactly those.
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
    owner: str | None
    contact: str | None
    color: str | None
    sla_seconds: float | None
    wait_target_seconds: float | None
    run_target_seconds: float | None
    escalation: str | None
    attained: float | None
    burn: float | None


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A queue within a scope: as QueueView, but how much of its work is where is None to a tenant.

    Counts end at 10,000.
    """

    name: str
    priority: int
    lane: str
    paused: bool
    paused_at: datetime | None
    paused_by: str | None
    pause_reason: str | None
    resume_at: datetime | None
    queued: int | None
    scheduled: int | None
    blocked: int | None
    running: int | None
    dead_letters: int | None
    oldest_seconds: float | None
    next_due_seconds: float | None
    owner: str | None
    contact: str | None
    color: str | None
    sla_seconds: float | None
    wait_target_seconds: float | None
    run_target_seconds: float | None
    escalation: str | None
    attained: float | None
    burn: float | None


def list_queues(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[QueueView]]:
    """Every queue with its depth by state, the most urgent first."""
    return Statement(
        "list_queues", sql("queues/list_queues", schema), (), lambda rows: [QueueView(*r) for r in rows]
    )


def serving_queues(*, schema: str = DEFAULT_SCHEMA) -> Statement[dict[str, bool]]:
    """The queues there are, and whether stored commands belong to them."""
    return Statement(
        "serving", sql("queues/serving", schema), (), lambda rows: {row[0]: row[1] for row in rows}
    )


def queue_names(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[str]]:
    """The names of all queues."""
    return Statement(
        "queue_names", sql("queues/queue_names", schema), (), lambda rows: [row[0] for row in rows]
    )


def register_queues(
    declared: Sequence[Queue], *, fill: bool = False, schema: str = DEFAULT_SCHEMA
) -> Statement[None]:
    """Stores who answers for queues, and what is promised of them; what a declaration leaves out is none.

    `fill`: only of queues of which nothing is said yet.
    """
    args = (json.dumps([queue.row() for queue in declared]), fill)
    return Statement("register_queues", sql("queues/register_queues", schema), args, lambda rows: None)


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


def read_queues(name: str | None = None, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[QueueRow]]:
    """Every queue, or the one of this name, as whoever asks may see it."""
    return Statement(
        "read_queues", sql("queues/read_queues", schema), (name,), lambda rows: [QueueRow(*r) for r in rows]
    )


def read_letter_queue_names(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[str]]:
    """What dead letters can be asked for by: all queues, and the names under which those show theirs."""
    return Statement(
        "read_letter_queue_names",
        sql("queues/read_letter_queue_names", schema),
        (),
        lambda rows: [row[0] for row in rows],
    )


def read_letter_queues(name: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[str]]:
    """The queues whose dead letters are shown under this name; the name itself first, whether there is such a queue or not."""
    return Statement(
        "read_letter_queues", sql("queues/read_letter_queues", schema), (name,), lambda rows: list(rows[0][0])
    )


def read_queue_names(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[str]]:
    """The names of all queues, for whoever may come in."""
    return Statement(
        "read_queue_names", sql("queues/read_queue_names", schema), (), lambda rows: [row[0] for row in rows]
    )
