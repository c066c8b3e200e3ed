"""Runs one job's handler here and now, its arguments through JSON as in production; no database is needed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn, TypeVar, cast
from uuid import UUID, uuid4

from postmill.artifacts.storage import Storage
from postmill.domain.errors import PostmillError, ResourceFailed
from postmill.domain.job import NewJob
from postmill.domain.job_type import JobType
from postmill.domain.resource import Resource
from postmill.domain.settings_artifacts import ArtifactSettings
from postmill.engine.context import Context, JobInfo
from postmill.engine.fence import Fence
from postmill.engine.resources import Resources
from postmill.engine.transaction import Transactions
from postmill.telemetry.job_log import job_log

T = TypeVar("T")
ResourcesGiven = Mapping[Resource[Any], Any]
OnProgress = Callable[[float, float | None, str | None], object]


class NotInTests(PostmillError):
    """A handler asked for what needs a worker and its database: run it by `drain`."""


def perform(
    job: NewJob,
    *,
    resources: ResourcesGiven | None = None,
    attempt: int = 1,
    on_progress: OnProgress | None = None,
) -> Any:
    """Runs the handler of a job that `.new(…)` has made, and returns what it returns. Coroutines run, too.

    Args:
        job: a job of a job type that is known here; its arguments go through JSON.
        resources: what `ctx.resource(…)` gives.
        attempt: number of the attempt that the context tells.
        on_progress: is told what the handler says by `ctx.progress`.

    Raises:
        what the handler raises, `postmill.Snooze` and its like too.
        NotInTests: it asks its context for a transaction, a budget or artifacts.
        TypeError: the job names its type only.
    """
    job_type, arguments = _call(job, resources, attempt, on_progress)
    made = job_type.fn(**arguments)
    return finished(made) if job_type.is_async else made


async def aperform(
    job: NewJob,
    *,
    resources: ResourcesGiven | None = None,
    attempt: int = 1,
    on_progress: OnProgress | None = None,
) -> Any:
    """`perform` on the running loop; plain functions run in a thread, as in a worker."""
    job_type, arguments = _call(job, resources, attempt, on_progress)
    if job_type.is_async:
        return await job_type.fn(**arguments)
    return await asyncio.to_thread(job_type.fn, **arguments)


def _call(
    job: NewJob, resources: ResourcesGiven | None, attempt: int, on_progress: OnProgress | None
) -> tuple[JobType[..., ..., Any], dict[str, Any]]:
    job_type = job.definition
    if job_type is None:
        raise TypeError(
            f"the handler of {job.job_type!r} is not known here: make the job by the job type's own .new(…)"
        )
    arguments = job_type.bind(job.payload)
    if job_type.ctx_param is not None:
        arguments[job_type.ctx_param] = _context(job, job_type, resources or {}, attempt, on_progress)
    return job_type, arguments


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """The answer of a coroutine, for a caller that blocks: on a loop of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    answer: list[T] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            answer.append(asyncio.run(coroutine))
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=run, name="postmill-inline")
    thread.start()
    thread.join()
    for fault in faults:
        raise fault
    return answer[0]


def _context(
    job: NewJob,
    job_type: JobType[..., ..., Any],
    resources: ResourcesGiven,
    attempt: int,
    on_progress: OnProgress | None,
) -> Context:
    now = datetime.now(UTC)
    timeout = job.timeout if job.timeout is not None else job_type.timeout
    info = JobInfo(
        id=uuid4(), job_type=job_type.name, queue=job_type.queue, tenant_id=job.tenant_id, attempt=attempt,
        run=attempt, max_attempts=job.max_attempts or job_type.max_attempts, created_at=now,
        scheduled_for=job.scheduled_for, project_id=job.project_id, actor_type=job.actor_type,
        actor_id=job.actor_id, request_id=job.request_id, correlation_id=job.correlation_id,
        traceparent=job.traceparent, idempotency_key=job.key,
    )  # fmt: skip
    return Context(
        info,
        fence=Fence(info.id, UUID(int=0), 0, info.tenant_id),
        link=_Link(on_progress),
        transactions=cast("Transactions", _NoDatabase()),
        resources=cast("Resources", _Given(resources)),
        storage=Storage(ArtifactSettings()),
        deadline=None if timeout is None else now + timedelta(seconds=timeout),
    )


class _Link:
    def __init__(self, on_progress: OnProgress | None) -> None:
        self._told = on_progress

    def progress(self, done: float, total: float | None, text: str | None) -> None:
        if self._told is not None:
            self._told(done, total, text)

    def log(self, info: JobInfo) -> Any:
        """The logger of a job; here no worker stands in its lines."""
        return job_log(info)

    def stopping(self) -> bool:
        return False

    def settled(self) -> None:
        pass

    def spent(self, unit: str, amount: float) -> None:
        pass

    def fanned(self, steps: str) -> None:
        pass

    def completes(self) -> None:
        _refuse()


class _Given:
    """Resources that the test has given."""

    def __init__(self, given: ResourcesGiven) -> None:
        self._given = given

    def get(self, resource: Resource[Any]) -> Any:
        if resource not in self._given:
            raise ResourceFailed(f"give the resource: resources={{{resource.name}: …}}")
        return self._given[resource]


class _NoDatabase:
    def __getattr__(self, name: str) -> NoReturn:
        _refuse()


def _refuse() -> NoReturn:
    raise NotInTests("this needs a worker: enqueue the job, commit, and run it by postmill.testing.drain")
