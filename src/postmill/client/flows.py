"""The operations of both clients and of the functions on the caller's connection, once: as flows of steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from postmill.client.checks import checked, checked_request
from postmill.client.refusals import MAY_REGISTER, enqueued
from postmill.client.ruling import amended, ruled
from postmill.domain.duration import seconds
from postmill.domain.errors import EnqueueRefused, NotFound, SerializationConflict, SomeRefused
from postmill.domain.job import Enqueued, JobView, NewJob
from postmill.domain.job_options import ActorType
from postmill.domain.job_type import JobType
from postmill.domain.payload import check_text
from postmill.domain.registering import refuse_unregistered
from postmill.domain.registry import queues_of
from postmill.store import enqueue as store
from postmill.store import jobs as on_jobs
from postmill.store.enqueue import Answer
from postmill.store.flow import Flow
from postmill.store.jobs import Canceled, Rerun
from postmill.store.queues import register_queues
from postmill.store.registration import job_type_names, register_job_types

COPY_FROM = 200
"""So many plain jobs in one call go by COPY where the driver can; fewer are quicker by arrays."""

CHUNK = 2000
"""Jobs in one statement: few enough for a short statement, enough that round trips do not count."""


def enqueue(schema: str, job: NewJob, *, wait: timedelta | float | None = None) -> Flow[Enqueued]:
    """Enqueues one job.

    Args:
        job: what a job type's `.new(…)` made, or a NewJob written out.
        wait: for a job with a key, seconds to wait for another open transaction that holds the same key;
        beyond it
            KeyBusy. 0: not at all. None: as long as the session's lock_timeout allows.

    Returns:
        The job's id, and whether it was created or found under its key.

    Raises:
        UnknownJobType, InactiveJobType, KeyBusy, KeyTaken, SerializationConflict, PayloadRefused: no job was
        made.
        SchemaMissing: the database has no Postmill schema.
    """
    (answer,) = yield from _answers(schema, [checked(job)], wait, copy=False)
    if isinstance(answer, EnqueueRefused):
        raise answer
    return answer


def enqueue_many(
    schema: str, jobs: Iterable[NewJob], *, wait: timedelta | float | None = None
) -> Flow[list[Enqueued]]:
    """Enqueues many jobs in one transaction and returns their answers in order; all of them or none.

    Args:
        jobs: as in `enqueue`.
        wait: as in `enqueue`, for each key.

    Raises:
        SomeRefused: at least one job was refused; its `answers` tell which and why.
        PayloadRefused, SchemaMissing: as in `enqueue`, before anything was sent.
    """
    return (yield from many(schema, jobs, wait, copy=True))


def many(
    schema: str, jobs: Iterable[NewJob], wait: timedelta | float | None, *, copy: bool
) -> Flow[list[Enqueued]]:
    """`enqueue_many`, by COPY only where `copy` says that the driver can."""
    asked = [checked(job) for job in jobs]
    answers = yield from _answers(schema, asked, wait, copy=copy)
    taken = [answer for answer in answers if isinstance(answer, Enqueued)]
    if len(taken) < len(answers):
        raise SomeRefused(answers)
    return taken


def get(schema: str, id: UUID | str) -> Flow[JobView]:
    """One job as it stands now.

    Raises:
        NotFound: there is no such job (any more).
    """
    found = yield on_jobs.job_state([_uuid(id)], schema=schema)
    return _only(id, found)  # type: ignore[no-any-return]


def cancel(
    schema: str,
    id: UUID | str,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
) -> Flow[Canceled]:
    """Ends a job that waits, or asks one that runs to end.

    Args:
        id: the job.
        reason: why; kept with the job, at most 1 KiB of text. None: `canceled`.
        actor_type: who cancels: user, system or api_key.
        actor_id: which one of them.

    Returns:
        `status` tells what was done: canceled (it waited, and is over), requested (it runs, and will hear of
        it), finished (it had ended before; nothing was done).

    Raises:
        NotFound: there is no such job.
        PayloadRefused: the reason or the actor cannot be stored; nothing was sent.
        SerializationConflict: it collided with another transaction; run this one again.
    """
    given = checked_request(reason, actor_type, actor_id)
    answers: list[Canceled] = yield on_jobs.cancel_jobs([_uuid(id)], schema=schema, **given)
    answer: Canceled = _only(id, answers)
    if answer.status == "serialization":
        raise SerializationConflict
    return answer


def retry(
    schema: str,
    id: UUID | str,
    *,
    confirm: bool = False,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
) -> Flow[Rerun]:
    """Makes a job due that waits for its next attempt; replays one that ended without success. See Rerun.

    A replay is refused (`unconfirmed`) where the job type says `replay_class = "ask"`, unless `confirm` is true.

    Raises:
        NotFound: there is no such job.
    """
    answers = yield on_jobs.retry_jobs(
        [_uuid(id)], confirm=confirm, actor_type=actor_type, actor_id=actor_id, schema=schema
    )
    return _only(id, answers)  # type: ignore[no-any-return]


def replay(
    schema: str,
    id: UUID | str,
    *,
    payload: bytes | None = None,
    again: bool = False,
    confirm: bool = False,
    despite_success: bool = False,
    version: int | None = None,
    original_version: bool = False,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
) -> Flow[Rerun]:
    """Runs a job that ended without success again, as a new one with lineage; with `payload` (JSON) if given.

    One that was replayed already is refused (`already_replayed`, or `live`), unless its replay has ended and `again`
    is true. One whose job type says `replay_class = "ask"` is refused (`unconfirmed`), unless `confirm` is true.
    One of which a later job with the same key, or the same type and payload, has succeeded (among the tenant's 20,000
    newest) is refused (`succeeded_since`), unless `despite_success` is true; while its definition has not come to
    `version` yet, any is (`old_version`). With `original_version` only workers take it that run the version of its
    definition that it was made under; where nobody can any more it is refused (`version_gone`).

    Raises:
        NotFound: there is no such job.
        PayloadRefused: the payload cannot be stored.
    """
    payload = None if payload is None else check_text(payload)
    answers = yield on_jobs.replay_jobs(
        [_uuid(id)],
        payload=payload,
        again=again,
        confirm=confirm,
        despite_success=despite_success,
        version=version,
        original_version=original_version,
        actor_type=actor_type,
        actor_id=actor_id,
        schema=schema,
    )
    return _only(id, answers)  # type: ignore[no-any-return]


def register(schema: str, job_types: Iterable[JobType[..., ..., Any]]) -> Flow[dict[str, str]]:
    """Puts job types on the allow-list. Answer per name: created | changed | unchanged | kept.

    Raises:
        DefinitionError: a name is that of a command or of http workers, or its queue is one of http workers.
    """
    return refuse_unregistered((yield from _registered(schema, job_types)))


def _registered(schema: str, job_types: Iterable[JobType[..., ..., Any]]) -> Flow[dict[str, str]]:
    """Job types, and what code promises of their queues where nothing is yet: what settings say, only workers know."""
    types = list(job_types)
    answer: dict[str, str] = yield register_job_types(types, schema=schema)
    declared = queues_of(types)
    if declared:
        yield register_queues([*declared.values()], fill=True, schema=schema)
    return answer


def _answers(
    schema: str, jobs: Sequence[NewJob], wait: timedelta | float | None, *, copy: bool
) -> Flow[list[Enqueued | EnqueueRefused]]:
    bound = None if wait is None else timedelta(seconds=seconds(wait, "wait"))
    jobs = yield from ruled(schema, jobs)
    answers: list[Answer] = yield from send(schema, jobs, bound, copy)
    unknown = [n for n, answer in enumerate(answers) if answer.detail == MAY_REGISTER]
    definitions = {d.name: d for n in unknown if (d := jobs[n].definition) is not None}
    if definitions:
        refuse_unregistered((yield from _registered(schema, definitions.values())))
        again = [n for n in unknown if jobs[n].definition is not None]
        later = yield from send(schema, [jobs[n] for n in again], bound, copy)
        for n, answer in zip(again, later, strict=True):
            answers[n] = answer
    for _ in range(2):  # a key, then the seal
        better = {n: job for n, answer in enumerate(answers) if (job := amended(jobs[n], answer)) is not None}
        if not better:
            break
        jobs = [better.get(n, job) for n, job in enumerate(jobs)]
        later = yield from send(schema, list(better.values()), bound, copy)
        for n, answer in zip(better, later, strict=True):
            answers[n] = answer
    known: list[str] = []
    if any(answer.status == "unknown_type" for answer in answers):
        known = yield job_type_names(schema=schema)
    return [enqueued(job, answer, known) for job, answer in zip(jobs, answers, strict=True)]


def send(schema: str, jobs: Sequence[NewJob], wait: timedelta | None, copy: bool) -> Flow[list[Answer]]:
    if len(jobs) == 1 and jobs[0].key is None and not jobs[0].tags:
        return [(yield from _send_one(schema, jobs[0]))]
    if copy and len(jobs) >= COPY_FROM and all(map(store.is_plain, jobs)):
        lists = yield store.load(jobs, chunk=CHUNK, schema=schema)
        return [answer for part in lists for answer in part]
    # By key over all statements, as the function sorts within each: two callers with crossed keys cannot
    # deadlock.
    order = sorted(range(len(jobs)), key=lambda n: (jobs[n].key is None, jobs[n].key or ""))
    answers: list[Answer | None] = [None] * len(jobs)
    for start in range(0, len(order), CHUNK):
        part = order[start : start + CHUNK]
        found = yield store.enqueue_many([jobs[n] for n in part], wait=wait, schema=schema)
        for n, answer in zip(part, found, strict=True):
            answers[n] = answer
    return [answer for answer in answers if answer is not None]


def _send_one(schema: str, job: NewJob) -> Flow[Answer]:
    if store.is_quick(job):
        id: UUID | None = yield store.enqueue_quick(job, schema=schema)
        if id is not None:
            return Answer(id, "created", None)
    answer: Answer = yield store.enqueue_one(job, schema=schema)
    return answer


def _uuid(id: UUID | str) -> UUID:
    if isinstance(id, UUID):
        return id
    try:
        return UUID(id)
    except (ValueError, AttributeError, TypeError):
        raise NotFound(f"{id!r} is no job id: a job id is a UUID") from None


def _only(id: UUID | str, answers: Sequence[Any]) -> Any:
    if not answers or getattr(answers[0], "status", None) == "unknown":
        raise NotFound(f"there is no job {id}; it may be past its retention, or its type keeps only failures")
    return answers[0]
