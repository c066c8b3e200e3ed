"""The statement that tells why a job does not run, as facts."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.domain.lifecycle import State
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement


@dataclass(frozen=True, slots=True)
class LimitFacts:
    """A limit that the job is under, by what it counts for this job.

    Attributes:
        running: jobs that hold a seat of it; at most 10,000 are counted.
        rate_wait: seconds until its rate lets one start; None: it has none.
        held_by: the first three of them, for whom sees the platform.
    """

    name: str
    max_running: int | None
    running: int
    rate_count: int | None
    rate_seconds: float | None
    rate_wait: float | None
    held_by: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class WhyFacts:
    """What the database knows; None where it does not apply. Seconds by its clock.

    Attributes:
        due_seconds: until a scheduled job is due, negative: overdue.
        limits: those it is under, over the whole fleet.
        type_running, held_by: running jobs of a type with a worker limit, and the first three for whom sees the platform.
        type_workers, queue_workers: live workers that serve the type, and any type of the queue.
        outdated: live workers of the queue that started before the type was registered.
        slots, queue_running: slots of the queue's live workers (None: one does not say), and its running jobs.
        budget …: of the type, with its level (1 to 4) and what comes of a run.
        pinned, pin_workers: the version that it is bound to, and live workers that run it.
        refused, refused_by, knowing: whether it waits where a worker put it back that did not know its type; for whom sees the
            platform, who put one of the type back last, and a live worker that knows it.
        ahead: tickets before it in its lane, at most 10,000.
    """

    id: UUID
    job_type: str
    queue: str
    state: State
    attempt: int
    max_attempts: int
    reason: str | None
    error_class: str | None
    error_message: str | None
    cancel_requested: bool
    worker_id: str | None
    paused: bool
    pause_reason: str | None
    resume_at: datetime | None
    tenant_status: str | None
    is_active: bool | None
    due_seconds: float | None
    expired: bool | None
    limits: tuple[LimitFacts, ...]
    worker_limit: int | None
    type_running: int | None
    held_by: list[UUID] | None
    type_workers: int
    queue_workers: int
    draining_workers: int
    outdated: int
    slots: int | None
    queue_running: int
    ahead: int
    ready_seconds: float | None
    replayed_as: UUID | None
    budget: str | None
    budget_level: int | None
    budget_action: str | None
    budget_ends: datetime | None
    type_paused: bool
    type_pause_reason: str | None
    type_resume_at: datetime | None
    pinned: int | None
    pin_workers: int
    refused: bool
    refused_by: str | None
    knowing: str | None


def read_why(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[WhyFacts | None]:
    """The facts about one job within the scope; None: there is none."""
    return Statement("read_why", sql("jobs/read_why", schema), (id,), _first)


_LIMITS = [field.name for field in fields(WhyFacts)].index("limits")


def _limit(one: dict[str, Any]) -> LimitFacts:
    return LimitFacts(**one | {"held_by": tuple(UUID(id) for id in one["held_by"] or ())})


def _first(rows: Rows) -> WhyFacts | None:
    if not rows:
        return None
    values = list(rows[0])
    values[3] = State(values[3])
    values[_LIMITS] = tuple(_limit(one) for one in json.loads(values[_LIMITS] or "[]"))
    return WhyFacts(*values)
