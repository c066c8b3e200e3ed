"""Statements of the page of one job."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement

LAST = 2**31 - 1
TEXTS = ("error", "stack", "stdout", "stderr")


@dataclass(frozen=True, slots=True)
class HeldKey:
    """An idempotency key as it stands: which job has it now, since when, how long."""

    mode: str
    job_id: UUID
    first_seen_at: datetime
    last_seen_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class CancelAsked:
    """A cancel that was asked for and not answered yet."""

    at: datetime
    by: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class JobFacts:
    """What a job's page shows beside its line.

    Attributes:
        version, version_then: of its definition, now and when it was enqueued; None: there is none.
        runs: executions that have begun; `lost`: those that ended with their worker.
        lease_until: until when the worker that runs it has the right to.
        event_id: the event that made it.
        replays: the latest first, at most 20 of each store.
        pinned: the version of its job type that alone may run it.
        has_artifacts: whether there were files of it to read lately.
    """

    project_id: UUID | None
    request_id: str | None
    traceparent: str | None
    expires_at: datetime | None
    timeout_seconds: float | None
    scheduled_for: datetime | None
    result_ref: str | None
    error_ref: str | None
    has_result: bool
    encrypted: bool
    definition_id: UUID | None
    version: int | None
    version_then: int | None
    runs: int
    lost: int
    lease_until: datetime | None
    event_id: str | None
    cancel: CancelAsked | None
    key: HeldKey | None
    replays: list[UUID]
    in_workflow: bool
    pinned: int | None
    has_artifacts: bool

    @property
    def trace_id(self) -> str | None:
        """Of its trace (W3C Trace Context), 32 hexadecimal digits."""
        parts = (self.traceparent or "").split("-")
        return parts[1] if len(parts) >= 4 and len(parts[1]) == 32 else None


@dataclass(frozen=True, slots=True)
class AttemptText:
    """One execution with the beginning of its error and stack, and the end of its output.

    `lengths`: how long error, stack, standard output and standard error are; None: there is none. `build`: what its
    worker's application called the code that it ran.
    """

    run: int
    attempt: int
    status: str
    worker_id: str
    pid: int | None
    started_at: datetime
    finished_at: datetime | None
    exit_code: int | None
    error_class: str | None
    error_code: str | None
    error_message: str | None
    error_status: int | None
    error_group: str | None
    stack: str | None
    stdout_tail: str | None
    stderr_tail: str | None
    lengths: list[int | None]
    build: str | None = None


def read_job_page(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[JobFacts | None]:
    """None: there is no such job in scope."""
    return Statement("read_job_page", sql("jobs/read_job_page", schema), (id,), _facts)


def read_attempt_page(
    id: UUID,
    *,
    below: int = LAST,
    most: int = 10,
    text: int = 70_000,
    tail: int = 20_000,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[AttemptText]]:
    """Executions below a run, the latest first; `text` and `tail`: characters of each text."""
    return Statement(
        "read_attempt_page",
        sql("jobs/read_attempt_page", schema),
        (id, below, most, text, tail),
        lambda rows: [AttemptText(*row) for row in rows],
    )


def read_attempt_text(
    id: UUID, run: int, what: str, *, schema: str = DEFAULT_SCHEMA
) -> Statement[str | None]:
    """One text of an execution, whole: `what` is one of `TEXTS`."""
    return Statement(
        "read_attempt_text", sql("jobs/read_attempt_text", schema), (id, run, what), lambda rows: rows[0][0]
    )


def read_job_payload(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[tuple[str, str | None] | None]:
    """Payload and result as JSON text, as they are stored; None: there is no such job in scope."""
    return Statement(
        "read_job_payload",
        sql("jobs/read_job_payload", schema),
        (id,),
        lambda rows: (rows[0][0], rows[0][1]) if rows else None,
    )


def _facts(rows: Rows) -> JobFacts | None:
    if rows[0][0] is None:
        return None
    found: dict[str, Any] = json.loads(rows[0][0])
    _moments(found, ("expires_at", "scheduled_for", "lease_until"))
    _ids(found, ("project_id", "definition_id"))
    if found["key"] is not None:
        _moments(found["key"], ("first_seen_at", "last_seen_at", "expires_at"))
        _ids(found["key"], ("job_id",))
        found["key"] = HeldKey(**found["key"])
    if found["cancel"] is not None:
        _moments(found["cancel"], ("at",))
        found["cancel"] = CancelAsked(**found["cancel"])
    found["replays"] = [UUID(id) for id in found["replays"]]
    return JobFacts(**found)


def _moments(found: dict[str, Any], names: Sequence[str]) -> None:
    for name in names:
        found[name] = None if found[name] is None else datetime.fromisoformat(found[name])


def _ids(found: dict[str, Any], names: Sequence[str]) -> None:
    for name in names:
        found[name] = None if found[name] is None else UUID(found[name])
