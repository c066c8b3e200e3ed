"""Jobs as lines of a table: their reasons in words, and the arguments that were asked for, without secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import orjson

from postmill.console.frame.pauses import paused_until
from postmill.console.frame.shown import seconds
from postmill.console.frame.words import _
from postmill.domain.enqueue_rules import EnqueueRules
from postmill.domain.redaction import REDACTED, redacted
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.definitions import enqueue_rules
from postmill.store.finding import FoundJob
from postmill.store.flow import Flow
from postmill.store.replays import Replay, read_latest_replays
from postmill.store.waits import Wait, read_waits

AT_ONCE = 1000
"""Replays that one statement looks for: a file has many more lines than a page."""


@dataclass(frozen=True, slots=True)
class Line:
    """One job. `reason`: what there is to say about its state; `args`: chosen arguments as text; `replay`: its latest one."""

    job: FoundJob
    reason: str | None
    args: tuple[str, ...]
    replay: Replay | None = None


def lines(
    jobs: Sequence[FoundJob], paths: Sequence[tuple[str, ...]], *, schema: str = DEFAULT_SCHEMA
) -> Flow[list[Line]]:
    """The lines of these jobs."""
    rules: dict[str, EnqueueRules] = {}
    if paths and jobs:
        rules = yield enqueue_rules(sorted({job.job_type for job in jobs}), schema=schema)
    waits: dict[UUID, Wait] = {}
    ready = [job.id for job in jobs if job.state == "queued" and job.waits_on is None]
    if ready:
        waits = yield read_waits(ready, schema=schema)
    replays: dict[UUID, Replay] = {}
    replayed = [job.id for job in jobs if job.replayed]
    for first in range(0, len(replayed), AT_ONCE):
        replays |= yield read_latest_replays(replayed[first : first + AT_ONCE], schema=schema)
    return [
        Line(job, _said(job, waits, replays), _args(job, paths, rules), replays.get(job.id)) for job in jobs
    ]


def _said(job: FoundJob, waits: Mapping[UUID, Wait], replays: Mapping[UUID, Replay]) -> str | None:
    if job.id in waits:
        return waits_for(waits[job.id])
    if job.id in replays:
        return _("as a new job: %s") % replays[job.id].state.replace("_", " ")
    return reason(job)


def waits_for(wait: Wait) -> str:
    """What holds a ready job back."""
    if wait.what == "version":
        said = (
            _("waits for version v%s: no live worker runs it") if wait.unserved else _("bound to version v%s")
        )
        return said % wait.name.split(" ")[0]
    if wait.what == "type":
        return (
            _("no live worker knows its type")
            if wait.unserved
            else _("waits for a worker that knows its type")
        )
    words = {
        "tenant_limit": _("tenant at its limit"),
        "limit": _("limit %s is full") % wait.name,
        "rate": _("waits for the rate of %s") % wait.name,
    }
    return words[wait.what]


def reason(job: FoundJob) -> str | None:
    """Why a job is in its state, as far as a list can say it."""
    if job.cancel_requested and job.state == "running":
        return _("asked to stop")
    until = None if job.due_at is None else seconds(max(0.0, (job.due_at - job.moment).total_seconds()))
    waits = {
        "expired": _("was not started in time"),
        "queue_paused": _("queue paused"),
        "type_paused": _("held: %s") % paused_until(job.job_type, job.held_until, job.moment),
        "tenant_suspended": _("tenant suspended"),
        "blocked": _("waits for other jobs"),
        "budget": _("waits for budget"),
        "retry_pending": _("retry %(n)s/%(most)s in %(time)s")
        % {"n": job.attempt, "most": job.max_attempts - 1, "time": until},
        "not_due": _("due in %s") % until,
    }
    if job.waits_on is not None:
        return waits.get(job.waits_on, job.waits_on)
    if job.state == "running" and job.progress_done is not None:
        share = f"{job.progress_done:g}" + ("" if job.progress_total is None else f"/{job.progress_total:g}")
        return f"{share} {job.progress_message or ''}".strip()
    return job.reason


def _args(job: FoundJob, paths: Sequence[tuple[str, ...]], rules: dict[str, EnqueueRules]) -> tuple[str, ...]:
    secret = rules[job.job_type].secret_keys if job.job_type in rules else ()
    folded = {name.lower() for name in secret}
    shown = []
    for path, value in zip(paths, job.args or [None] * len(paths), strict=True):
        if any(part.lower() in folded for part in path):
            shown.append(REDACTED)
        elif value is None:
            shown.append("–")
        elif isinstance(value, str):
            shown.append(str(redacted(value, secret)))
        else:
            shown.append(orjson.dumps(redacted(value, secret)).decode())
    return tuple(shown)
