"""Statements that act on jobs, dead letters and queues within a scope, and write the audit log.

`actor_type` and `actor_id` say who acts where neither a request nor `set_actor` does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.domain.access import Principal
from postmill.domain.job import NewJob
from postmill.domain.job_options import ActorType
from postmill.store.access import begin_request
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.jobs import Canceled, Discarded, Rerun
from postmill.store.statement import Rows, Statement


@dataclass(frozen=True, slots=True)
class Entered:
    """What became of a job that came in by the door; the last three are of the job that `id` names.

    Statuses beside those of an enqueue: changed (the definition has another version) | unknown_tenant |
    unknown_project | suspended.
    """

    id: UUID | None
    status: str
    detail: str | None
    tenant_id: UUID
    state: str | None
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class Prioritized:
    """changed | unchanged (it had that priority) | running | finished | contended (try again) | unknown."""

    id: UUID
    status: str


def door_enqueue(job: NewJob, version: int | None, *, schema: str = DEFAULT_SCHEMA) -> Statement[Entered]:
    """One job, if its tenant is in scope and its definition still has the version that it was checked against.

    Source, actor and request id are those of the request.
    """
    args = _facts(job, version)
    return Statement("door_enqueue", sql("jobs/door_enqueue", schema), args, lambda rows: Entered(*rows[0]))


def request_enqueue(
    principal: Principal,
    asked: Sequence[tuple[str, NewJob, int | None]],
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Entered]]:
    """Whole requests of one principal that do nothing but `door_enqueue`: request id, job and version of each.

    A key that opens no longer makes it fail (SQLSTATE 28000).
    """
    columns = zip(*((request_id, *_facts(job, version)) for request_id, job, version in asked), strict=True)
    begin = begin_request(principal, None, schema=schema).args[:-2]
    return Statement(
        "request_enqueue",
        sql("jobs/request_enqueue", schema),
        (*begin, *map(list, columns)),
        lambda rows: [Entered(*row) for row in rows],
    )


def _facts(job: NewJob, version: int | None) -> tuple[Any, ...]:
    return (
        job.job_type,
        version,
        job.payload.decode(),
        job.tenant_id,
        job.project_id,
        job.priority,
        job.scheduled_for,
        job.key,
        job.mode and job.mode.value,
        job.correlation_id,
        job.traceparent,
        json.dumps(job.tags) if job.tags else None,
    )


def door_cancel_jobs(
    ids: Sequence[UUID],
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Canceled]]:
    """Ends jobs that wait, and asks those that run to end."""
    args = (list(ids), reason, actor_type, actor_id)
    return Statement(
        "door_cancel_jobs",
        sql("jobs/door_cancel_jobs", schema),
        args,
        lambda rows: [Canceled(*row) for row in rows],
    )


def door_retry_jobs(
    ids: Sequence[UUID],
    *,
    confirm: bool = False,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Rerun]]:
    """Makes jobs due that wait for their next attempt; replays those that ended without success.

    confirm: those whose definition wants to be asked (`replay_class = ask`), too.
    """
    args = (list(ids), confirm, actor_type, actor_id)
    return Statement("door_retry_jobs", sql("jobs/door_retry_jobs", schema), args, _reruns)


def door_replay_jobs(
    ids: Sequence[UUID],
    *,
    payload: bytes | None = None,
    again: bool = False,
    confirm: bool = False,
    despite_success: bool = False,
    version: int | None = None,
    original_version: bool = False,
    changes: Sequence[Mapping[str, Any]] | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Rerun]]:
    """Runs ended jobs again as new ones with lineage, with another payload if one is given.

    again: those that were replayed already, too. confirm: those whose definition wants to be asked (`replay_class = ask`), too.
    despite_success: also those of which a later job with the same key, or the same type and payload, has succeeded.
    version: only once the definition is at it. original_version: each under the version of its definition that it was made
    under, so that only workers which run this version take it.
    changes: what an edited payload changed, for the audit log.
    """
    text = None if payload is None else payload.decode()
    told = None if changes is None else json.dumps(list(changes))
    args = (
        list(ids), text, again, confirm, actor_type, actor_id, despite_success, version, told, original_version
    )  # fmt: skip
    return Statement("door_replay_jobs", sql("jobs/door_replay_jobs", schema), args, _reruns)


def door_discard_jobs(
    ids: Sequence[UUID],
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Discarded]]:
    """Closes dead letters as failed; `reason` replaces theirs."""
    args = (list(ids), reason, actor_type, actor_id)
    return Statement(
        "door_discard_jobs",
        sql("jobs/door_discard_jobs", schema),
        args,
        lambda rows: [Discarded(*row) for row in rows],
    )


def door_prioritize_jobs(
    ids: Sequence[UUID],
    priority: int,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Prioritized]]:
    """Gives jobs that wait another priority; they go to the end of their new place."""
    args = (list(ids), priority, reason, actor_type, actor_id)
    return Statement(
        "door_prioritize_jobs",
        sql("jobs/door_prioritize_jobs", schema),
        args,
        lambda rows: [Prioritized(*row) for row in rows],
    )


def door_move_waiting(
    ids: Sequence[UUID],
    queue: str,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[tuple[UUID, str]]]:
    """Puts waiting jobs into another queue: moved | unknown (it does not wait) | no_queue, by id."""
    args = (list(ids), queue, reason, actor_type, actor_id)
    return Statement(
        "door_move_waiting",
        sql("jobs/door_move_waiting", schema),
        args,
        lambda rows: [(row[0], row[1]) for row in rows],
    )


def door_pause_queue(
    name: str,
    *,
    reason: str | None = None,
    resume_at: datetime | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[bool]:
    """Stops claims from a queue until it is resumed, or until `resume_at`. False: no such queue in scope."""
    args = (name, reason, resume_at, actor_type, actor_id)
    return Statement("door_pause_queue", sql("queues/door_pause_queue", schema), args, _yes)


def door_resume_queue(
    name: str,
    *,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[bool]:
    """Opens a queue again. False: no such queue in scope."""
    args = (name, actor_type, actor_id)
    return Statement("door_resume_queue", sql("queues/door_resume_queue", schema), args, _yes)


def _reruns(rows: Rows) -> list[Rerun]:
    return [Rerun(*row) for row in rows]


def _yes(rows: Rows) -> bool:
    return bool(rows[0][0])
