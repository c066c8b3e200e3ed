"""Statements of HTTP workers: open a session, claim, renew, report. Run in a request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class OpenWork:
    """A session, or why there is none.

    Statuses: open | unknown_type | unknown_queue | other_kind | other_queue (`detail` says which) | no_types. `known`:
    what there is instead. `types`: the names that jobs may have, aliases too. `sealed`: a type among them whose payloads
    are encrypted.
    """

    status: str
    detail: str | None
    known: list[str] | None
    holder: UUID | None
    queues: list[str] | None
    types: list[str] | None
    sealed: str | None


@dataclass(frozen=True, slots=True)
class WorkLane:
    """A lane with work, its weight, and the priorities of the queue and of the work."""

    queue: str
    queue_priority: int
    lane: UUID
    priority: int
    weight: int


@dataclass(frozen=True, slots=True)
class Taken:
    """A claimed job; or, without one, a lane that was asked for fewer than wanted.

    Attributes:
        slot: which line of the claim, from 1.
        asked: how many its lane was asked for.
        wait_seconds: until its limit has a token.
        contended: somebody else held its limit; try again at once.
        job: facts of the job; `payload` is JSON text.
    """

    slot: int
    asked: int
    wait_seconds: float
    contended: bool
    job: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class HeldWork:
    """A job under a fence: held | ended (by the report of this verb, answered so) | over | unknown."""

    status: str
    verb: str | None
    answer: dict[str, Any] | None
    job: dict[str, Any] | None
    cancel_requested: bool | None
    cancel_reason: str | None


@dataclass(frozen=True, slots=True)
class Beat:
    """renewed | overdue (past its deadline; not renewed) | over."""

    status: str
    lease_expires_at: datetime | None
    deadline: datetime | None
    cancel_requested: bool | None
    cancel_reason: str | None


def open_work(
    worker_id: str,
    queues: Sequence[str],
    types: Sequence[str],
    seconds: float,
    metadata: Mapping[str, Any],
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[OpenWork]:
    """The session of this worker within the scope, its lease lasting `seconds` at least."""
    args = (worker_id, list(queues), list(types), seconds, json.dumps(metadata))
    return Statement("open_work", sql("http_work/open_work", schema), args, lambda rows: OpenWork(*rows[0]))


def work_lanes(
    queues: Sequence[str], most: int, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[WorkLane]]:
    """Where there is work in these queues, within the scope."""
    return Statement(
        "work_lanes",
        sql("http_work/work_lanes", schema),
        (list(queues), most),
        lambda rows: [WorkLane(*row) for row in rows],
    )


def claim_work(
    holder: UUID,
    most: int,
    lease: float,
    types: Sequence[str],
    lines: Sequence[tuple[str, UUID, int, datetime | None, int]],
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Taken]]:
    """Claims up to `most` jobs of these types.

    Args:
        holder: the session.
        most: jobs in all.
        lease: seconds until a job is given back whose worker does not renew it.
        types: names that jobs may have.
        lines: queue, lane, priority, where to begin (None: at the head), how many; in the order in which they are asked.
    """
    columns = [[line[n] for line in lines] for n in range(5)]
    args = (holder, most, lease, list(types), *columns)
    return Statement(
        "claim_work",
        sql("http_work/claim_work", schema),
        args,
        lambda rows: [Taken(row[0], row[1], row[2], row[3], _json(row[4])) for row in rows],
    )


def work_types(types: Sequence[str], *, schema: str = DEFAULT_SCHEMA) -> Statement[list[tuple[Any, ...]]]:
    """The http definitions with these keys or aliases: rows as those of `definitions/followed.sql`."""
    return Statement(
        "work_types",
        sql("http_work/work_types", schema),
        (list(types),),
        lambda rows: [tuple(row) for row in rows],
    )


def check_org(
    tenant: UUID, project: UUID | None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[tuple[bool, bool]]:
    """Does the organization exist, and is the project one of its own?"""
    return Statement(
        "check_org",
        sql("http_work/check_org", schema),
        (tenant, project),
        lambda rows: (rows[0][0], rows[0][1]),
    )


def doze_work(
    holder: UUID, queues: Sequence[str], seconds: float, *, schema: str = DEFAULT_SCHEMA
) -> Statement[None]:
    """For so many seconds these queues ring; 0: no longer."""
    return Statement(
        "doze_work", sql("http_work/doze_work", schema), (holder, list(queues), seconds), lambda rows: None
    )


def release_work(holder: UUID, claim_no: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[None]:
    """Gives back what a claim took, at no cost: its answer found nobody."""
    return Statement(
        "release_work", sql("http_work/release_work", schema), (holder, claim_no), lambda rows: None
    )


def held_work(id: UUID, holder: UUID, claim_no: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[HeldWork]:
    """The job under a fence, locked until the end of the transaction."""
    return Statement(
        "held_work",
        sql("http_work/held_work", schema),
        (id, holder, claim_no),
        lambda rows: _held(*rows[0]),
    )


def beat_work(
    id: UUID,
    holder: UUID,
    claim_no: int,
    progress: tuple[float, float | None, str | None] | None,
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[Beat]:
    """Renews a job's lease; `progress`: done, total and a text."""
    args = (id, holder, claim_no, *(progress or (None, None, None)))
    return Statement("beat_work", sql("http_work/beat_work", schema), args, lambda rows: Beat(*rows[0]))


def report_work(
    id: UUID,
    holder: UUID,
    claim_no: int,
    verb: str,
    report: str,
    fields: Mapping[str, Any],
    result: str | None,
    answer: Mapping[str, Any],
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[dict[str, Any] | None]:
    """Ends a held job. The answer with its moments, which is kept; None: the job is not held any more.

    Args:
        id, holder, claim_no: the job under its fence.
        verb: what the worker called.
        report: complete | complete_forgotten | put_back | finish | bury.
        fields: what that one needs.
        result: JSON text of a success.
        answer: what the worker is told.
    """
    args = (id, holder, claim_no, verb, report, json.dumps(fields), result, json.dumps(answer))
    return Statement(
        "report_work", sql("http_work/report_work", schema), args, lambda rows: _json(rows[0][0])
    )


def work_workflow(
    id: UUID, holder: UUID, claim_no: int, *, schema: str = DEFAULT_SCHEMA
) -> Statement[tuple[str, dict[str, Any] | None]]:
    """told (with what) | none | over | unknown: the workflow of the job under a fence."""
    return Statement(
        "work_workflow",
        sql("http_work/work_workflow", schema),
        (id, holder, claim_no),
        lambda rows: (rows[0][0], _json(rows[0][1])),
    )


def fan_work(
    id: UUID, holder: UUID, claim_no: int, steps: str, *, schema: str = DEFAULT_SCHEMA
) -> Statement[tuple[str, str | None]]:
    """Steps that come with the success of the job under a fence: made | refused (why) | over."""
    return Statement(
        "fan_work",
        sql("http_work/fan_work", schema),
        (id, holder, claim_no, steps),
        lambda rows: (rows[0][0], rows[0][1]),
    )


def _held(
    status: str, verb: str | None, answer: str | None, job: str | None, canceled: bool | None, why: str | None
) -> HeldWork:
    return HeldWork(status, verb, _json(answer), _json(job), canceled, why)


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)
