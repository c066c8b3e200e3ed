"""Starting workflows and batches, once: as flows of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Protocol, TypeVar
from uuid import UUID

from postmill.client.checks import checked
from postmill.client.ruling import key_ring, ruled
from postmill.client.workflow_care import id_of
from postmill.domain.batch import Batch
from postmill.domain.enqueue_rules import sealed as sealed_job
from postmill.domain.errors import (
    EnqueueRefused,
    EnvelopeIncomplete,
    InactiveJobType,
    KeyBusy,
    NotFound,
    PayloadRefused,
    SerializationConflict,
    TenantMoved,
    TenantMoving,
    UnknownJobType,
    WorkflowRefused,
)
from postmill.domain.job import NewJob
from postmill.domain.registering import refuse_unregistered
from postmill.domain.workflow import Step, Workflow, check_step_job
from postmill.domain.workflow_spec import job_spec, jobs_text, step_spec, workflow_text
from postmill.domain.workflow_view import Started
from postmill.store import workflows as store
from postmill.store.flow import Flow
from postmill.store.reads import read_job_type_names
from postmill.store.registration import job_type_names, register_job_types
from postmill.store.statement import Statement
from postmill.store.workflows import Added, StartAnswer

T = TypeVar("T", StartAnswer, Added)


class Send(Protocol):
    """A statement that starts a workflow."""

    def __call__(self, flow: Workflow, text: str, *, schema: str) -> Statement[StartAnswer]: ...


class SendJobs(Protocol):
    """A statement that adds jobs to a batch."""

    def __call__(self, id: UUID, text: str, *, schema: str) -> Statement[Added]: ...


CHUNK = 2000
"""Jobs of a batch in one statement."""


def start_workflow(schema: str, workflow: Workflow) -> Flow[Started]:
    """Inserts a workflow: all its steps or nothing.

    Args:
        workflow: with at least one step.

    Returns:
        Its id, and whether it was created or found under its key.

    Raises:
        WorkflowRefused: no step, too many, a circle, a parent that is not there, options that a step cannot have.
        UnknownJobType, InactiveJobType, KeyBusy, SerializationConflict, PayloadRefused: nothing was made.
        SchemaMissing: the database has no Postmill schema.
    """
    return (yield from starting(schema, workflow, store.start_workflow))


def starting(schema: str, workflow: Workflow, send: Send) -> Flow[Started]:
    """`start_workflow` by this statement."""
    if isinstance(workflow, Batch):
        raise TypeError("a batch is started by start_batch, with its jobs")
    steps = workflow.ordered()
    jobs = [step.job for step in steps]
    undo = {n: step.compensate for n, step in enumerate(steps) if step.compensate is not None}
    ready = yield from _ready(schema, workflow, [*jobs, *undo.values()])

    def build(all_jobs: Sequence[NewJob], callbacks: dict[str, NewJob]) -> Statement[StartAnswer]:
        back = dict(zip(undo, all_jobs[len(jobs) :], strict=True))
        rows = [
            step_spec(Step(step.name, all_jobs[n], step.after, back.get(n))) for n, step in enumerate(steps)
        ]
        text = workflow_text(workflow, "workflow", rows, sealed=True, callbacks=callbacks)
        return send(workflow, text, schema=schema)

    return (yield from _start(schema, workflow, ready, build))


def open_batch(schema: str, batch: Batch) -> Flow[Started]:
    """Starts a batch that jobs are added to until it is sealed; only then can it end.

    Errors as those of `start_workflow`.
    """
    return (yield from starting_batch(schema, batch, [], sealed=False, send=store.start_workflow))


def start_batch(schema: str, batch: Batch, jobs: Iterable[NewJob]) -> Flow[Started]:
    """Starts a batch with all its jobs, 2,000 in a statement. All or nothing where the caller has a transaction open.

    Errors as those of `start_workflow`.
    """
    rest = iter(jobs)
    first = list(islice(rest, CHUNK))
    more = list(islice(rest, CHUNK))
    started = yield from starting_batch(schema, batch, first, sealed=not more, send=store.start_workflow)
    while more and started.created:
        yield from add_to_batch(schema, started.id, more, tenant=batch.tenant_id)
        more = list(islice(rest, CHUNK))
        if not more:
            yield from seal_batch(schema, started.id)
    return started


def add_to_batch(
    schema: str, id: UUID | str, jobs: Iterable[NewJob], *, tenant: UUID | None = None
) -> Flow[int]:
    """Adds jobs to an open batch. Returns how many it has.

    Raises:
        NotFound: there is no such batch. WorkflowRefused: it is sealed, canceled or has ended.
        The others as `start_workflow`.
    """
    return (yield from adding(schema, id, jobs, store.add_jobs, tenant=tenant))


def adding(
    schema: str, id: UUID | str, jobs: Iterable[NewJob], send: SendJobs, *, tenant: UUID | None = None
) -> Flow[int]:
    """`add_to_batch` by this statement."""
    total = 0
    rest = iter(jobs)
    while chunk := list(islice(rest, CHUNK)):
        for job in chunk:
            check_step_job("a job of a batch", job, tenant or job.tenant_id)
        ready = yield from ruled(schema, [checked(job) for job in chunk])

        def build(all_jobs: Sequence[NewJob], callbacks: dict[str, NewJob]) -> Statement[Added]:
            return send(id_of(id), jobs_text(all_jobs), schema=schema)

        answer = yield from _tried(schema, ready, {}, build)
        if answer.status == "unknown":
            raise NotFound(f"there is no batch {id}")
        if answer.status in ("finished", "canceled", "sealed"):
            raise WorkflowRefused(f"batch {id} is {answer.status}: it takes no more jobs")
        if answer.status != "created":
            raise (yield from _refusal(schema, "the batch", answer))
        total = answer.total or 0
    return total


def seal_batch(schema: str, id: UUID | str) -> Flow[bool]:
    """No more jobs come: the batch ends when those that it has have ended. False: it was sealed before.

    Raises NotFound: there is no such batch.
    """
    status: str = yield store.seal_batch(id_of(id), schema=schema)
    if status == "unknown":
        raise NotFound(f"there is no batch {id}")
    return status == "sealed"


def starting_batch(
    schema: str, batch: Batch, jobs: list[NewJob], *, sealed: bool, send: Send
) -> Flow[Started]:
    """A batch with its first jobs, by this statement."""
    if not isinstance(batch, Batch):
        raise TypeError(f"start_batch takes a Batch, not {type(batch).__name__}")
    for job in jobs:
        check_step_job("a job of a batch", job, batch.tenant_id)
    ready = yield from _ready(schema, batch, jobs)

    def build(all_jobs: Sequence[NewJob], callbacks: dict[str, NewJob]) -> Statement[StartAnswer]:
        rows = [job_spec(job) for job in all_jobs]
        text = workflow_text(batch, "batch", rows, sealed=sealed, callbacks=callbacks)
        return send(batch, text, schema=schema)

    return (yield from _start(schema, batch, ready, build))


def _ready(
    schema: str, flow: Workflow, jobs: Sequence[NewJob]
) -> Flow[tuple[list[NewJob], dict[str, NewJob]]]:
    """The jobs and the callbacks, checked and sealed."""
    callbacks = {
        name: job
        for name, job in (("on_success", flow.on_success), ("on_finish", flow.on_finish))
        if job is not None
    }
    for name, job in callbacks.items():
        check_step_job(name, job, flow.tenant_id)
    all_jobs = yield from ruled(schema, [checked(job) for job in (*jobs, *callbacks.values())])
    return all_jobs[: len(jobs)], dict(zip(callbacks, all_jobs[len(jobs) :], strict=True))


Build = Callable[[Sequence[NewJob], dict[str, NewJob]], Statement[T]]


def _start(
    schema: str, flow: Workflow, ready: tuple[list[NewJob], dict[str, NewJob]], build: Build[StartAnswer]
) -> Flow[Started]:
    answer = yield from _tried(schema, *ready, build)
    if answer.id is not None and answer.status in ("created", "duplicate"):
        return Started(answer.id, answer.status == "created")
    if answer.status == "busy":
        raise KeyBusy(flow.key)
    raise (yield from _refusal(schema, f"workflow {flow.name!r}", answer))


def _tried(schema: str, jobs: Sequence[NewJob], callbacks: dict[str, NewJob], build: Build[T]) -> Flow[T]:
    """Sends; where the database says so, makes the job types known, or seals what is to be encrypted, and sends again."""
    answer: Any = yield build(jobs, callbacks)
    if answer.status == "may_register":
        all_jobs = (*jobs, *callbacks.values())
        definitions = {d.name: d for job in all_jobs if (d := job.definition) is not None}
        if answer.detail in definitions:
            registered = yield register_job_types(definitions.values(), schema=schema)
            refuse_unregistered(registered)
            answer = yield build(jobs, callbacks)
    for _ in range(len(jobs) + len(callbacks)):
        if answer.status != "unencrypted":
            break
        name = answer.detail
        jobs = [_sealed(job, name) for job in jobs]
        callbacks = {which: _sealed(job, name) for which, job in callbacks.items()}
        answer = yield build(jobs, callbacks)
    return answer  # type: ignore[no-any-return]


def _sealed(job: NewJob, name: str | None) -> NewJob:
    return sealed_job(job, name, key_ring()) if job.job_type == name else job


def _refusal(schema: str, what: str, answer: StartAnswer | Added) -> Flow[EnqueueRefused]:
    detail = answer.detail or "it is refused"
    match answer.status:
        case "may_register":
            return UnknownJobType(detail, (yield job_type_names(schema=schema)), may_register=True)
        case "unknown_type":
            return UnknownJobType(detail, (yield read_job_type_names(schema=schema)))
        case "unknown_tenant" | "unknown_project":
            return WorkflowRefused(f"{what}: there is no such {answer.status[8:]}")
        case "suspended":
            return WorkflowRefused(f"{what}: this tenant is suspended")
        case "inactive":
            return InactiveJobType(detail)
        case "moving":
            return TenantMoving(answer.detail)
        case "moved":
            return TenantMoved(answer.detail)
        case "serialization":
            return SerializationConflict()
        case "incomplete":
            return EnvelopeIncomplete(what, detail.rpartition(": ")[2])
        case "secret":
            return PayloadRefused(detail, "looks like a secret; pass a reference to it")
        case _:
            return WorkflowRefused(f"{what}: {detail}")
