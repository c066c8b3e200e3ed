"""How jobs are read: the rows of job_state, list_jobs and job_attempts as values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.domain.job import JobView, Progress
from postmill.domain.lifecycle import State


@dataclass(frozen=True, slots=True)
class JobLine:
    """A job in a list: without payload and result. `error_message` holds at most 500 characters."""

    id: UUID
    tenant_id: UUID
    job_type: str
    queue: str
    status: State
    priority: int
    attempt: int
    max_attempts: int
    created_at: datetime
    scheduled_for: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    key: str | None
    reason: str | None
    error_class: str | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class JobPage:
    """A page of jobs, newest first. `before` continues below it; None: that was all."""

    jobs: list[JobLine]
    before: UUID | None


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One execution of a job. `run` counts them all; `attempt` is the number that the retry policy counts by.

    `status`: running | succeeded | failed | timeout | canceled | lost | snoozed | interrupted.
    `build`: what its worker's application called the code that it ran; None: it said nothing of that.
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
    stack: str | None
    stdout_tail: str | None
    stderr_tail: str | None
    build: str | None = None


# The columns of job_state.sql, in their order.
_COLUMNS = (
    *("id", "tenant_id", "job_type", "queue", "status", "priority", "attempt", "max_attempts", "payload"),
    *(
        "created_at",
        "scheduled_for",
        "started_at",
        "finished_at",
        "project_id",
        "key",
        "source",
        "source_ref",
    ),
    *("actor_type", "actor_id", "request_id", "correlation_id", "traceparent", "result", "reason"),
    *("error_class", "error_code", "error_message", "replayed_from", "replayed_as", "worker_id"),
    *("cancel_requested", "done", "total", "text", "tags"),
)


def job_view(row: Sequence[Any]) -> JobView:
    """A row of job_state.sql."""
    values: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    done, total, text = (values.pop(name) for name in ("done", "total", "text"))
    values["status"] = State(values["status"])
    values["tags"] = tuple(values["tags"] or ())
    values["payload"] = decoded(values["payload"])
    values["result"] = decoded(values["result"])
    return JobView(**values, progress=None if done is None else Progress(done, total, text))


def decoded(text: str | None) -> Any:
    """JSON text as Python values; the text itself where plain SQL stored what Python cannot read."""
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return text


def job_page(rows: Sequence[Sequence[Any]], most: int) -> JobPage:
    """The rows of list_jobs.sql; the last column says where a page that came back short goes on."""
    jobs = [_line(row) for row in rows if row[0] is not None]
    before = rows[0][-1] if rows else None
    if len(jobs) == most:
        before = jobs[-1].id
    return JobPage(jobs, before)


def _line(row: Sequence[Any]) -> JobLine:
    values = list(row[:-1])
    values[4] = State(values[4])
    return JobLine(*values)
