"""One job on a page of text, and many in a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from postmill.cli.ages import between, length, relative
from postmill.cli.ids import short
from postmill.cli.output import jsonable
from postmill.cli.reasons import LONGEST, error_of, why
from postmill.cli.tables import Grid, pairs, state, table
from postmill.cli.tails import tails
from postmill.cli.text import plain
from postmill.cli.timeline import timeline
from postmill.domain.boost import Raised
from postmill.domain.job import JobView
from postmill.domain.lifecycle import State
from postmill.store.job_rows import AttemptView, JobLine

COLUMNS = ("id", "type", "queue", "status", "attempt", "made", "when", "error")


def job_table(jobs: Sequence[JobLine], now: datetime, *, short_ids: bool) -> Grid:
    """Jobs in a table; `now` is the server's moment."""
    rows = [
        (
            short(job.id) if short_ids else str(job.id),
            job.job_type,
            job.queue,
            state(job.status),
            f"{job.attempt}/{job.max_attempts}",
            relative(job.created_at, now),
            when(job, now),
            why(job.reason, job.error_class, job.error_message),
        )
        for job in jobs
    ]
    return table(
        COLUMNS, rows, right=("attempt",), kept={"status": 11, "when": 14}, spare=("made", "attempt")
    )


def job_page(
    job: JobView,
    attempts: Sequence[AttemptView],
    now: datetime,
    home: str | None = None,
    waits: str | None = None,
    raised: Raised | None = None,
) -> RenderableType:
    """Everything about one job. `home` is the queue that its type belongs to, `waits` why it does not run, if known,
    `raised` how its priority has risen."""
    head = Text.assemble((str(job.id), "bold"), "  ", state(job.status))
    if job.cancel_requested:
        head.append("  (asked to stop)", style="yellow")
    facts = pairs(
        [
            ("type", job.job_type),
            ("queue", f"{job.queue}, priority {job.priority}"),
            ("", _astray(job, home)),
            ("", None if raised is None else _raised(raised)),
            ("waits", waits and f"{plain(waits)} (all reasons: postmill why {short(job.id)})"),
            ("attempt", f"{job.attempt} of {job.max_attempts}"),
            ("made", _moment(job.created_at, now)),
            ("due", _moment(job.scheduled_for, now) if job.scheduled_for else None),
            ("started", _moment(job.started_at, now) if job.started_at else None),
            ("finished", _moment(job.finished_at, now) if job.finished_at else None),
            (
                "took",
                between(job.started_at, job.finished_at) if job.started_at and job.finished_at else None,
            ),
            ("worker", job.worker_id),
            ("progress", _progress(job)),
            ("key", job.key and plain(job.key)),
            ("tenant", str(job.tenant_id)),
            ("project", str(job.project_id) if job.project_id else None),
            ("made by", f"{job.actor_type} {plain(job.actor_id)}" if job.actor_id else job.actor_type),
            ("correlation", job.correlation_id and plain(job.correlation_id)),
            ("replay of", str(job.replayed_from) if job.replayed_from else None),
            ("replayed as", str(job.replayed_as) if job.replayed_as else None),
            ("payload", as_json(job.payload)),
            ("result", as_json(job.result) if job.status is State.SUCCEEDED else None),
            ("tags", " ".join(job.tags) or None),
            ("reason", job.reason and plain(job.reason)),
            ("error", error_of(job.reason, job.error_class, job.error_message) or None),
        ]
    )
    parts: list[RenderableType] = [head, facts]
    if attempts:
        end = job.finished_at or now
        parts += [Text(""), timeline(attempts, job.created_at, max(end, attempts[-1].finished_at or end))]
    stack = next((attempt.stack for attempt in reversed(attempts) if attempt.stack), None)
    if stack and job.status is not State.SUCCEEDED:
        parts += [Text("\nlast stack", style="dim"), Text(plain(stack)[-LONGEST:])]
    return Group(*parts, *tails(attempts, LONGEST))


def when(job: JobLine, now: datetime) -> str:
    """What matters about the time of a job in its state."""
    if job.status is State.RUNNING and job.started_at is not None:
        return f"runs {length((now - job.started_at).total_seconds())}"
    if job.status is State.SCHEDULED and job.scheduled_for is not None:
        return f"due {relative(job.scheduled_for, now)}"
    if job.finished_at is None:
        return "waits"
    took = f", took {between(job.started_at, job.finished_at)}" if job.started_at else ""
    return f"{relative(job.finished_at, now)}{took}"


def as_json(value: Any) -> str:
    """A payload or result as JSON, on one line where it fits."""
    flat = json.dumps(value, default=jsonable, ensure_ascii=False)
    text = flat if len(flat) <= 100 else json.dumps(value, default=jsonable, ensure_ascii=False, indent=2)
    shown = plain(text)
    return (
        shown
        if len(shown) <= LONGEST
        else f"{shown[:LONGEST]}\n… {len(shown) - LONGEST} more characters: --json"
    )


def _moment(moment: datetime, now: datetime) -> str:
    return f"{moment.astimezone().isoformat(sep=' ', timespec='milliseconds')}  ({relative(moment, now)})"


def _raised(raised: Raised) -> str:
    waited = length(raised.waited_seconds)
    return f"raised from {raised.from_priority} to {raised.priority} after waiting {waited}"


def _astray(job: JobView, home: str | None) -> str | None:
    """Who serves the queue of its type may not serve this one."""
    if home in (None, job.queue) or job.status not in (State.QUEUED, State.SCHEDULED, State.BLOCKED):
        return None
    return f"its type belongs to {home}; move what waits: postmill queues move {job.job_type}"


def _progress(job: JobView) -> str | None:
    if job.progress is None:
        return None
    done, total, text = job.progress.done, job.progress.total, job.progress.text
    said = f"{done:g} of {total:g}" if total is not None else f"{done:g}"
    return f"{said}  {plain(text)}" if text else said
