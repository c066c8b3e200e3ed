"""What an operator reads, once for every face. Each is a flow, to be run as those of `commands` are."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from postmill.domain.boost import Raised
from postmill.domain.errors import NotFound, UnknownJobType
from postmill.domain.job import JobView
from postmill.domain.lifecycle import State
from postmill.domain.queue import match_queue
from postmill.store import boost, dead, moving, queues, registration, workers
from postmill.store import jobs as on_jobs
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.dead import DeadLetter
from postmill.store.flow import Flow
from postmill.store.job_rows import AttemptView, JobPage
from postmill.store.moving import Home, Strays
from postmill.store.queues import QueueView
from postmill.store.workers import WorkerView


def jobs(
    *,
    state: State | None = None,
    job_type: str | None = None,
    queue: str | None = None,
    tenant: UUID | None = None,
    before: UUID | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[JobPage]:
    """One page of jobs, newest first; `before` is the last page's.

    No page looks at more than 10,000 jobs: with a rare filter it may come back short, with a `before` to go
    on from.

    Raises:
        UnknownQueue, UnknownJobType: with what exists and what was probably meant.
    """
    if queue is not None:
        queue = match_queue(queue, (yield queues.queue_names(schema=schema)))
    page: JobPage = yield on_jobs.list_jobs(
        state=state, job_type=job_type, queue=queue, tenant=tenant, before=before, most=most, schema=schema
    )
    if job_type is not None and not page.jobs and before is None:
        known = yield registration.job_type_names(schema=schema)
        if job_type not in known:
            raise UnknownJobType(job_type, known)
    return page


def job(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[JobView]:
    """One job, whole.

    Raises:
        NotFound: there is no such job.
    """
    found: list[JobView] = yield on_jobs.job_state([id], schema=schema)
    if not found:
        raise NotFound(f"there is no job {id}")
    return found[0]


def raised(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[Raised | None]:
    """How a job has risen by waiting; None: it has not."""
    found: Raised | None = yield boost.read_boost(id, schema=schema)
    return found


def attempts(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[list[AttemptView]]:
    """Every execution of one job, the running one too, the first one first."""
    found: list[AttemptView] = yield on_jobs.job_attempts(id, schema=schema)
    return found


def dead_letters(
    *,
    tenant: UUID | None = None,
    queue: str | None = None,
    reason: str | None = None,
    job_type: str | None = None,
    error_group: str | None = None,
    error_status: int | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    before: tuple[datetime, UUID] | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[DeadLetter]]:
    """Open dead letters, those given up last first; `before` is the `position` of the last one read.

    `since` and `until` (not with it) bound the moment at which they were given up.

    Raises:
        UnknownQueue: with what exists and what was probably meant.
    """
    if queue is not None:
        queue = match_queue(queue, (yield queues.read_letter_queue_names(schema=schema)))
    found: list[DeadLetter] = yield dead.list_dead(
        tenant=tenant,
        queue=queue,
        reason=reason,
        job_type=job_type,
        error_group=error_group,
        error_status=error_status,
        since=since,
        until=until,
        before=before,
        most=most,
        schema=schema,
    )
    return found


def dead_letter(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[DeadLetter]:
    """One open dead letter with its stack and payload.

    Raises:
        NotFound: there is no such dead letter, or it was replayed or discarded.
    """
    found: DeadLetter | None = yield dead.read_dead_letter(id, schema=schema)
    if found is None:
        raise NotFound(f"there is no open dead letter {id}; it may have been replayed or discarded")
    return found


def all_queues(*, schema: str = DEFAULT_SCHEMA) -> Flow[list[QueueView]]:
    """Every queue with its depth by state, the most urgent first."""
    found: list[QueueView] = yield queues.list_queues(schema=schema)
    return found


def home(job_type: str, *, schema: str = DEFAULT_SCHEMA) -> Flow[str | None]:
    """The queue that a job type belongs to, by its name or an alias; None: there is no such type (any more)."""
    found: Home | None = yield moving.home_of(job_type, schema=schema)
    return None if found is None else found.queue


def strays(job_type: str | None = None, *, schema: str = DEFAULT_SCHEMA) -> Flow[list[Strays]]:
    """Jobs in another queue than the one that their type belongs to; `commands.move` takes them there.

    Among the 10,000 oldest tickets of each state.
    """
    found: list[Strays] = yield moving.strays(job_type, schema=schema)
    return found


def all_workers(
    *, seen_within: float | None = 86400.0, schema: str = DEFAULT_SCHEMA
) -> Flow[list[WorkerView]]:
    """Worker sessions seen within so many seconds (default a day; None: all), the live ones first."""
    found: list[WorkerView] = yield workers.list_workers(seen_within=seen_within, schema=schema)
    return found
