"""Statements on what somebody was promised and got: attainment, the state of queues, the next runs of schedules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class Attainment:
    """What became of the jobs of one type in one queue.

    Attributes:
        sla_seconds: within which 95 % shall be finished once due; None: nothing is promised.
        enqueued, ended, failed: how many were made, ended, and ended badly.
        attained: the share that was done in time (what failed or was given up was not); None: nothing is promised, or none ended.
        p95: seconds from due to finished.
    """

    job_type: str
    queue: str
    sla_seconds: float | None
    enqueued: int
    ended: int
    failed: int
    attained: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class QueueStanding:
    """How a queue stands, for anybody: paused (`since`), no_workers, late, or ok."""

    name: str
    state: Literal["paused", "no_workers", "late", "ok"]
    since: datetime | None
    sla_seconds: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class SharedFailure:
    """A cause of the tenant's failures; counts end at 500.

    Attributes:
        shared: more than one other tenant fails so, too.
        recent: it happened in the last five minutes, too.
        open: dead letters of it; `ended`: jobs that it ended, `replayed`: of these; of the replays have `succeeded`, and are
            `waiting` or running.
    """

    error_group: str
    job_type: str
    shared: bool
    recent: bool
    last_seen_at: datetime
    open: int
    ended: int
    replayed: int
    succeeded: int
    waiting: int

    @property
    def jobs(self) -> int:
        """How many jobs did not get over it by being tried again."""
        return self.open + self.ended

    @property
    def going_on(self) -> bool:
        """Whether it is not over yet."""
        return self.recent or self.open > 0 or self.waiting > 0


@dataclass(frozen=True, slots=True)
class SharedOperation:
    """What the platform's people did in bulk to jobs of this tenant among others': `done` of `n` jobs."""

    kind: str
    at: datetime
    n: int
    done: int


@dataclass(frozen=True, slots=True)
class NextRun:
    """A schedule, and when it runs next. `paused`: the queue that its jobs go to is."""

    id: UUID
    label: str
    job_type: str
    queue: str
    next_run_at: datetime
    last_run_at: datetime | None
    paused: bool


@dataclass(frozen=True, slots=True)
class MissedRun:
    """A tick that was left out since nobody was there when it was due."""

    id: UUID
    label: str
    due: datetime
    fired_at: datetime
    detail: str | None


def read_attainment(seconds: float, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[Attainment]]:
    """By job type and queue in the last so many seconds, within the scope; the worst first."""
    return Statement(
        "read_attainment",
        sql("console/read_attainment", schema),
        (seconds,),
        lambda rows: [Attainment(*row) for row in rows],
    )


def read_queue_standing(
    names: Iterable[str], *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[QueueStanding]]:
    """Of these queues, the most urgent first; nothing of who else uses them."""
    return Statement(
        "read_queue_standing",
        sql("console/read_queue_standing", schema),
        (sorted(set(names)),),
        lambda rows: [QueueStanding(*row) for row in rows],
    )


def read_next_runs(most: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[NextRun]]:
    """The soonest first, within the scope."""
    return Statement(
        "read_next_runs",
        sql("console/read_next_runs", schema),
        (most,),
        lambda rows: [NextRun(*row) for row in rows],
    )


def read_last_missed(*, schema: str = DEFAULT_SCHEMA) -> Statement[MissedRun | None]:
    """The latest one, within the scope."""
    return Statement(
        "read_last_missed",
        sql("console/read_last_missed", schema),
        (),
        lambda rows: MissedRun(*rows[0]) if rows else None,
    )


def shared_failures(seconds: float, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[SharedFailure]]:
    """Causes of the tenant's failures seen in the last so many seconds, those that failed most first."""
    return Statement(
        "shared_failures",
        sql("console/door_shared_failures", schema),
        (seconds,),
        lambda rows: [SharedFailure(*row) for row in rows],
    )


def shared_operations(seconds: float, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[SharedOperation]]:
    """Bulk operations of the platform in the last so many seconds that have jobs of this tenant, the latest first."""
    return Statement(
        "shared_operations",
        sql("console/door_shared_operations", schema),
        (seconds,),
        lambda rows: [SharedOperation(*row) for row in rows],
    )
