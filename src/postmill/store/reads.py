"""Statements that read jobs within the scope of a request (and everything, outside of one)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from postmill.domain.job import JobView
from postmill.domain.lifecycle import State
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.job_rows import AttemptView, job_view
from postmill.store.jobs import NEWEST
from postmill.store.statement import Rows, Statement

COUNTED = 10_000
"""Where counts of a state end."""


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job in a list: without payload and result. `error_message` holds at most 500 characters.

    `status` is queued as soon as the job is due. `attempt_count` counts the attempts that have begun.
    """

    id: UUID
    tenant_id: UUID
    job_type: str
    queue: str
    status: str
    source: str
    source_ref: str | None
    priority: int
    attempt_count: int
    max_attempts: int
    key: str | None
    correlation_id: str | None
    created_at: datetime
    scheduled_for: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    worker_id: str | None
    reason: str | None
    error_class: str | None
    error_message: str | None
    actor_type: str
    actor_id: str | None
    project_id: UUID | None
    replayed_from: UUID | None


@dataclass(frozen=True, slots=True)
class JobRows:
    """A page of jobs, newest first. `before` continues below it; None: that was all."""

    jobs: list[JobRow]
    before: UUID | None


@dataclass(frozen=True, slots=True)
class StateCount:
    """How many jobs are in a state. `at_least`: there may be more than were counted.

    `oldest_seconds` is told for queued ones: how long the oldest has been ready; `open_letters` for dead letters: how many of
    them were not replayed yet, counted up to one more than 10,000; `retrying` for scheduled ones: how many of them have failed
    before, of 2,000 that were looked at (`retrying_at_least`: there are more to look at).
    """

    state: State
    n: int
    at_least: bool
    oldest_seconds: float | None
    open_letters: int | None = None
    retrying: int | None = None
    retrying_at_least: bool | None = None

    @property
    def shown(self) -> StateCount:
        """As people take it: of dead letters those that are open."""
        if self.open_letters is None:
            return self
        return replace(self, n=min(self.open_letters, COUNTED), at_least=self.open_letters > COUNTED)


def read_jobs(
    *,
    status: str | None = None,
    source: str | None = None,
    job_type: str | None = None,
    queue: str | None = None,
    tenant: UUID | None = None,
    before: UUID = NEWEST,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    skip: int = 0,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[JobRows]:
    """One page of jobs with ids below `before`, newest first; `skip` of them are passed over.

    A page may be short, or even empty, and still have a `before` to go on from.
    """
    args = (status, source, job_type, queue, tenant, before, created_after, created_before, skip, most)
    return Statement("read_jobs", sql("jobs/read_jobs", schema), args, _page)


def read_job_state(ids: Sequence[UUID], *, schema: str = DEFAULT_SCHEMA) -> Statement[list[JobView]]:
    """Where these jobs stand, in no order; those that do not exist or are out of scope are left out."""
    return Statement(
        "read_job_state",
        sql("jobs/read_job_state", schema),
        (list(ids),),
        lambda rows: [*map(job_view, rows)],
    )


def read_attempts(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[AttemptView]]:
    """Every execution of a job, the first one first, the running one last."""
    return Statement(
        "read_attempts",
        sql("jobs/read_attempts", schema),
        (id,),
        lambda rows: [AttemptView(*row) for row in rows],
    )


def read_summary(*, tenant: UUID | None = None, schema: str = DEFAULT_SCHEMA) -> Statement[list[StateCount]]:
    """How many jobs are in each state; each count ends at 10,000."""
    return Statement(
        "read_summary",
        sql("jobs/read_summary", schema),
        (tenant,),
        lambda rows: [StateCount(State(row[0]), *row[1:]) for row in rows],
    )


def read_job_type_names(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[str]]:
    """The names and aliases of the active job types, at most 1,000."""
    return Statement(
        "read_job_type_names",
        sql("jobs/read_job_type_names", schema),
        (),
        lambda rows: [row[0] for row in rows],
    )


def _page(rows: Rows) -> JobRows:
    jobs = [JobRow(*row[:-1]) for row in rows if row[0] is not None]
    return JobRows(jobs, rows[0][-1] if rows else None)
