"""Statements on workers, as people see them and what they ask of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from postmill.domain.job_options import ActorType
from postmill.domain.slots_held import held_text
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement

FIRST_PAGE = (datetime.max.replace(tzinfo=UTC), UUID(int=2**128 - 1))

Asked = Literal["drain", "resume", "stop"]
"""What may be asked of a worker: claim nothing more; claim again; end as soon as nothing runs."""


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A worker session. `state`: running | draining | stopped | lost (its lease ended, nobody closed it).

    Attributes:
        asked: what an operator asked of it last (drain, resume, stop), when, who, why; None: nothing.
        draining_since: since when it claims nothing more.
        full_since: since when all its slots have been taken.
        skew_seconds: how far its own clock is ahead of the database's.
        report: what it says of itself: `memory_bytes`, `succeeded`, `failed`, `last_error`, `config`; of queues whose
            slots follow their work `slots` and `ranges` (`least`, `most`, `because`: of what they changed last,
            `held`: what keeps them from more, as `{"because": "cpu", "now": 0.97}`, or None); once it has ended
            `interrupted` and `abandoned`, too.
        build: what its application calls the code that it runs; None: it says nothing of that.
    """

    holder: UUID
    worker_id: str
    hostname: str
    pid: int
    version: str
    queues: tuple[str, ...]
    slots: dict[str, Any]
    job_types: tuple[str, ...]
    state: str
    running: int
    started_at: datetime
    last_seen_at: datetime
    stopped_at: datetime | None
    lease_expires_at: datetime | None
    metadata: dict[str, Any]
    asked: str | None = None
    asked_at: datetime | None = None
    asked_by: str | None = None
    asked_reason: str | None = None
    draining_since: datetime | None = None
    full_since: datetime | None = None
    skew_seconds: float | None = None
    report: dict[str, Any] | None = None
    build: str | None = None

    @property
    def interrupted(self) -> int:
        """How many jobs it gave back while they ran, when it ended."""
        told = (self.report or {}).get("interrupted")
        return told if isinstance(told, int) else 0

    @property
    def clean(self) -> bool:
        """Whether it said that it ends: of one that was lost the sweeper notes its last sign of life as its end."""
        return self.stopped_at is not None and self.stopped_at != self.last_seen_at

    @property
    def http(self) -> bool:
        """Whether it works over HTTP: its program is not ours."""
        return self.metadata.get("kind") == "http"

    @property
    def all_slots(self) -> int:
        """Jobs at once, of all queues."""
        return sum(one for one in self.slots.values() if isinstance(one, int))

    @property
    def slots_text(self) -> str:
        """`default=10, high=5 (5..40; held: processor pressure 97 %)`: the slots by queue, and of those that follow their
        work the range, and what keeps them from more."""
        return ", ".join(f"{name}={count}{self._range_text(name)}" for name, count in self.slots.items())

    def _range_text(self, queue: str) -> str:
        found = (self.report or {}).get("ranges", {}).get(queue)
        if found is None:
            return ""
        held = held_text(found.get("held"))
        return f" ({found['least']}..{found['most']}{f'; held: {held}' if held else ''})"


@dataclass(frozen=True, slots=True)
class WorkerLoad:
    """What a session holds: how many jobs (those that it has ready included), since when the oldest."""

    holder: UUID
    n: int
    oldest_at: datetime


@dataclass(frozen=True, slots=True)
class HeldJob:
    """A job that a session holds. `job_type` and its like are None for one whose body is gone.

    Attributes:
        claimed_at: since when.
        replay_class: what its definition says of running it again: safe, ask or never.
        lost: how often a worker was lost under it.
    """

    id: UUID
    tenant_id: UUID | None
    job_type: str | None
    queue: str
    attempt: int
    max_attempts: int | None
    claimed_at: datetime
    timeout_seconds: float | None
    replay_class: str | None
    lost: int
    progress_done: float | None
    progress_total: float | None
    progress_message: str | None


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A job that a session ended."""

    id: UUID
    tenant_id: UUID | None
    job_type: str | None
    status: str
    started_at: datetime | None
    finished_at: datetime
    attempt: int
    error_class: str | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class RescuedJob:
    """A job that was taken back. `verdict`: scheduled (it runs again), dead_letter, failed, canceled or undecodable."""

    id: UUID
    queue: str
    verdict: str


def list_workers(
    *, seen_within: float | None = None, schema: str = DEFAULT_SCHEMA
) -> Statement[list[WorkerView]]:
    """Worker sessions, the live ones first; `seen_within` in seconds, None for all that history speaks of."""
    args = (seen_within,)
    return Statement(
        "list_workers", sql("workers/list_workers", schema), args, lambda rows: [*map(_worker, rows)]
    )


def read_workers(
    *,
    seen_within: float | None = None,
    before: tuple[datetime, UUID] | None = None,
    most: int = 50,
    only: UUID | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[WorkerView]]:
    """Worker sessions as the platform may see them, those that started last first; or the one session `only`."""
    args = (seen_within, *(before or FIRST_PAGE), most, only)
    return Statement(
        "read_workers", sql("workers/read_workers", schema), args, lambda rows: [*map(_worker, rows)]
    )


def worker_loads(*, schema: str = DEFAULT_SCHEMA) -> Statement[dict[UUID, WorkerLoad]]:
    """What each session holds, by session; of at most 10,000 jobs."""

    def decoded(rows: Rows) -> dict[UUID, WorkerLoad]:
        return {row[0]: WorkerLoad(*row) for row in rows}

    return Statement("worker_loads", sql("workers/loads", schema), (), decoded)


def held_jobs(holder: UUID, most: int = 100, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[HeldJob]]:
    """What a session holds, the oldest first."""
    return Statement(
        "held_jobs",
        sql("workers/held_jobs", schema),
        (holder, most),
        lambda rows: [HeldJob(*r) for r in rows],
    )


def ended_jobs(
    holder: UUID, *, within: int = 5000, most: int = 50, schema: str = DEFAULT_SCHEMA
) -> Statement[list[EndedJob]]:
    """What a session ended lately, the latest first, among the `within` newest jobs that have ended."""
    args = (holder, within, most)
    return Statement(
        "ended_jobs", sql("workers/ended_jobs", schema), args, lambda rows: [EndedJob(*r) for r in rows]
    )


def ask_worker(
    holder: UUID,
    asked: Asked,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[str]:
    """asked | unchanged | unknown | over (the session has ended) | http (its program is not ours)"""
    args = (holder, asked, reason, actor_type, actor_id)
    return Statement("ask_worker", sql("workers/ask_worker", schema), args, lambda rows: str(rows[0][0]))


def rescue_worker(
    holder: UUID,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[tuple[str, list[RescuedJob]]]:
    """rescued | alive (its lease holds: nothing was done) | unknown; and the jobs that were taken back, 1,000 at most."""

    def decoded(rows: Rows) -> tuple[str, list[RescuedJob]]:
        status = next(row[2] for row in rows if row[0] is None)
        return str(status), [RescuedJob(*row) for row in rows if row[0] is not None]

    args = (holder, reason, actor_type, actor_id)
    return Statement("rescue_worker", sql("workers/rescue_worker", schema), args, decoded)


def _worker(row: Sequence[Any]) -> WorkerView:
    values = list(row)
    values[5], values[7] = tuple(values[5]), tuple(values[7])
    for place in (6, 14, 22):
        values[place] = json.loads(values[place])
    return WorkerView(*values)
