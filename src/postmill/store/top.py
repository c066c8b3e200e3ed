"""The light statements behind `postmill top`: each bounded, whatever has piled up. For who sees the platform."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement


@dataclass(frozen=True, slots=True)
class QueueRate:
    """What a queue did in the last four to five minutes.

    Attributes:
        ended, failed: jobs that ended and attempts that failed, a minute.
        p95: seconds from due to finished, of 95 % of the jobs that ended; None: none did.
    """

    queue: str
    ended: float
    failed: float
    p95: float | None


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A running job. `seconds`: since it was claimed. `job_type` and its like are None for one whose body is gone."""

    id: UUID
    tenant_id: UUID | None
    job_type: str | None
    queue: str
    attempt: int
    max_attempts: int | None
    worker_id: str | None
    seconds: float
    progress_done: float | None
    progress_total: float | None
    progress_message: str | None


@dataclass(frozen=True, slots=True)
class Failure:
    """An error group that was seen in the last day. `count`: failed attempts since `first_seen_at`."""

    group: str
    job_type: str
    error_class: str
    message: str
    count: int
    tenants: int
    first_seen_at: datetime
    last_seen_at: datetime
    sample_job: UUID | None


@dataclass(frozen=True, slots=True)
class LiveIncident:
    """An incident that is not resolved."""

    id: UUID
    kind: str
    severity: str
    status: str
    title: str
    queue: str | None
    opened_at: datetime
    last_at: datetime
    jobs: int


def top_moment(*, schema: str = DEFAULT_SCHEMA) -> Statement[datetime]:
    """The moment by the clock that decides."""

    def first(rows: Rows) -> datetime:
        moment: datetime = rows[0][0]
        return moment

    return Statement("moment", sql("insight/moment", schema), (), first)


def top_rates(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[QueueRate]]:
    """Of the queues in which something happened."""
    return Statement(
        "top_rates",
        sql("insight/top_rates", schema),
        (),
        lambda rows: [QueueRate(name, ended or 0.0, failed or 0.0, p95) for name, ended, failed, p95 in rows],
    )


def top_running(most: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[RunningJob]]:
    """What runs, the longest first."""
    return Statement(
        "top_running",
        sql("insight/top_running", schema),
        (most,),
        lambda rows: [RunningJob(*row) for row in rows],
    )


def top_failures(most: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[Failure]]:
    """Error groups, the one that was seen last first."""
    return Statement(
        "top_failures",
        sql("insight/top_failures", schema),
        (most,),
        lambda rows: [Failure(*row) for row in rows],
    )


def top_incidents(most: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[LiveIncident]]:
    """What is open, the newest first."""
    return Statement(
        "top_incidents",
        sql("insight/top_incidents", schema),
        (most,),
        lambda rows: [LiveIncident(*row) for row in rows],
    )
