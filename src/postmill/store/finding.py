"""Statements that find jobs by a query (`domain.query`), within the scope of a request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.job_rows import decoded
from postmill.store.jobs import NEWEST
from postmill.store.statement import Rows, Statement

LOOK = 2_000
"""How many jobs a page looks at, however rare what it looks for is."""

LOOK_OF_BARS = 10_001
"""How many `read_matching_bars` looks at."""

Filter = Mapping[str, Any]
Paths = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class FoundJob:
    """A job in a list, without payload and result. `error_message` holds at most 500 characters.

    Attributes:
        tenant: its tenant's slug.
        state: queued as soon as it is due. `retrying`: it is scheduled, and has failed before.
        trigger_id, trigger_label: what made it, where that was a trigger.
        attempt: how many attempts have begun.
        started_at: of the last attempt.
        waits_on: expired | queue_paused | type_paused | tenant_suspended | blocked | budget | retry_pending | not_due;
            None where it does not wait, or waits for its turn.
        args: the arguments that were asked for, in their order.
        moment: the database's time.
        tags: in the order of the alphabet.
        held_until: when the pause of its job type ends by itself; None: it is not paused, or somebody has to resume it.
    """

    id: UUID
    tenant_id: UUID
    tenant: str | None
    job_type: str
    queue: str
    state: str
    retrying: bool
    replayed: bool
    source: str
    source_ref: str | None
    trigger_id: UUID | None
    trigger_label: str | None
    priority: int
    attempt: int
    max_attempts: int
    key: str | None
    created_at: datetime
    due_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    worker_id: str | None
    reason: str | None
    error_class: str | None
    error_message: str | None
    error_group: str | None
    actor_type: str
    actor_id: str | None
    correlation_id: str | None
    replayed_from: UUID | None
    waits_on: str | None
    cancel_requested: bool
    progress_done: float | None
    progress_total: float | None
    progress_message: str | None
    args: list[Any]
    moment: datetime
    tags: list[str]
    held_until: datetime | None = None

    @property
    def shown_state(self) -> str:
        """The word that people see: a state of the glossary, retrying, or replayed (a letter that is open no longer)."""
        return "retrying" if self.retrying else "replayed" if self.replayed else self.state

    @property
    def waited(self) -> float | None:
        """Seconds from due to the last attempt's start, or until now; None while it is not due."""
        due = max(self.due_at or self.created_at, self.created_at)
        until = self.started_at if self.started_at and self.started_at >= due else None
        if until is None:
            until = self.moment if self.state in ("queued", "blocked") else self.finished_at
        return None if until is None or until < due else (until - due).total_seconds()

    @property
    def ran(self) -> float | None:
        """Seconds that the last attempt took, or takes so far."""
        if self.started_at is None or self.state in ("queued", "scheduled", "blocked"):
            return None
        end = self.moment if self.state == "running" else self.finished_at
        return None if end is None else max(0.0, (end - self.started_at).total_seconds())


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page of jobs, the newest first.

    Attributes:
        before: where the next page begins; None: that was all.
        cut: fewer were found than fit, since so many were looked at; there may be more below `before`.
    """

    jobs: list[FoundJob]
    before: UUID | None
    cut: bool


@dataclass(frozen=True, slots=True)
class FoundCount:
    """How many jobs are in a state; `at_least`: there may be more. Retrying ones are scheduled ones, too."""

    state: str
    n: int
    at_least: bool


@dataclass(frozen=True, slots=True)
class FoundBars:
    """When the jobs of a query were made.

    Attributes:
        total: how many there are; more than 10,000 are not counted.
        complete_to: older ones were not counted; None: these are all.
        width: seconds of a bar.
        bars: where each begins, and how many there are.
    """

    total: int
    complete_to: datetime | None
    width: float
    bars: list[tuple[datetime, int]]


def read_matching(
    filter: Filter,
    *,
    before: UUID = NEWEST,
    most: int = 50,
    look: int = LOOK,
    paths: Paths = (),
    schema: str = DEFAULT_SCHEMA,
) -> Statement[FoundPage]:
    """One page of jobs with ids below `before`, with the arguments at `paths`."""
    args = (json.dumps(filter), before, most, look, json.dumps([*map(list, paths)]))
    return Statement("read_matching", sql("jobs/read_matching", schema), args, _page)


def read_made_below(types: Sequence[str], before: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[UUID]:
    """Where to look on for jobs of these types below an id: past the hours in which none of them was made in the scope."""
    return Statement(
        "read_made_below",
        sql("jobs/read_made_below", schema),
        (list(types), before),
        lambda rows: rows[0][0],
    )


def read_job_lines(
    ids: Sequence[UUID], *, paths: Paths = (), schema: str = DEFAULT_SCHEMA
) -> Statement[list[FoundJob]]:
    """How these jobs stand, the newest first."""
    args = (list(ids), json.dumps([*map(list, paths)]))
    return Statement(
        "read_job_lines", sql("jobs/read_job_lines", schema), args, lambda rows: [_job(row) for row in rows]
    )


def read_matching_ids(
    filter: Filter, *, before: UUID = NEWEST, most: int = 500, look: int = LOOK, schema: str = DEFAULT_SCHEMA
) -> Statement[tuple[list[UUID], UUID | None]]:
    """The ids alone, the newest first, and where to go on where that was not all."""
    return Statement(
        "read_matching_ids",
        sql("jobs/read_matching_ids", schema),
        (json.dumps(filter), before, most, look),
        lambda rows: (rows[0][0], rows[0][0][-1] if len(rows[0][0]) >= most else rows[0][1]),
    )


def read_matching_counts(filter: Filter, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[FoundCount]]:
    """How many jobs of a filter are in each state, whatever states it names."""
    return Statement(
        "read_matching_counts",
        sql("jobs/read_matching_counts", schema),
        (json.dumps(filter),),
        lambda rows: [FoundCount(*row) for row in rows],
    )


def read_matching_bars(filter: Filter, *, schema: str = DEFAULT_SCHEMA) -> Statement[FoundBars]:
    """How many jobs of a filter there are, up to 10,000, and when they were made."""
    return Statement(
        "read_matching_bars", sql("jobs/read_matching_bars", schema), (json.dumps(filter),), _bars
    )


def read_query_names(
    names: Sequence[tuple[str, str]], *, schema: str = DEFAULT_SCHEMA
) -> Statement[dict[tuple[str, str], list[str]]]:
    """What the names of a query's terms stand for: (field, name) → ids or keys; none where there is nothing so called."""
    return Statement(
        "read_query_names",
        sql("jobs/read_query_names", schema),
        (json.dumps(names),),
        lambda rows: {(row[0], row[1]): list(row[2]) for row in rows},
    )


def read_facets(
    field: str, text: str, *, most: int = 12, schema: str = DEFAULT_SCHEMA
) -> Statement[list[tuple[str, str | None]]]:
    """Names of a field that hold a text, each with a note, those that begin with it first."""
    return Statement(
        "read_facets",
        sql("jobs/read_facets", schema),
        (field, text, most),
        lambda rows: [(row[0], row[1]) for row in rows],
    )


def read_key_holders(key: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[UUID]]:
    """The jobs that hold this idempotency key (one in each tenant and project), the newest first."""
    return Statement(
        "read_key_holders",
        sql("jobs/read_key_holders", schema),
        (key,),
        lambda rows: [row[0] for row in rows],
    )


def door_note_export(
    page: str, query: str, format: str, most: int, *, schema: str = DEFAULT_SCHEMA
) -> Statement[None]:
    """Writes into the audit log that a list is taken away."""
    return Statement(
        "door_note_export",
        sql("jobs/door_note_export", schema),
        (page, query, format, most),
        lambda rows: None,
    )


_NAMES = [field.name for field in fields(FoundJob)]


def _job(row: Sequence[Any]) -> FoundJob:
    values = dict(zip(_NAMES, row, strict=True))
    values["retrying"], values["replayed"] = bool(values["retrying"]), bool(values["replayed"])
    values["args"] = decoded(values["args"]) or []
    return FoundJob(**values)


def _page(rows: Rows) -> FoundPage:
    jobs = [_job(row[:-2]) for row in rows if row[0] is not None]
    return FoundPage(jobs, rows[0][-2], bool(rows[0][-1]))


def _bars(rows: Rows) -> FoundBars:
    total, complete_to, width, bars = rows[0]
    made = [(datetime.fromtimestamp(at, UTC), n) for at, n in decoded(bars)]
    return FoundBars(total, complete_to, width, made)
