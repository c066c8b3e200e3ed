"""Statements on triggers as people and code read and write them."""

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
class TriggerView:
    """A trigger, and where it stands.

    Attributes:
        every_seconds: the step of a schedule without cron lines.
        origin: `api`, or `code`: then nobody but its module (`declared_in`) changes it.
        broken: its schedule cannot be planned; `error` says why.
        error: the last thing that went wrong, until something goes well again.
        last_run_at: the due moment of its last tick.
    """

    id: UUID
    tenant_id: UUID
    label: str
    is_enabled: bool
    trigger_type: str
    event_name: str | None
    cron_expr: str | None
    every_seconds: float | None
    timezone: str | None
    definition_id: UUID
    definition_key: str
    payload_template: str
    dedupe_window_seconds: int
    missed: str
    missed_limit: int
    overlap: str
    dst: str
    jitter_seconds: int
    origin: str
    declared_in: str | None
    created_by: str | None
    created_at: datetime
    updated_at: datetime
    anchored_at: datetime
    next_run_at: datetime | None
    broken: bool
    last_run_at: datetime | None
    last_job_id: UUID | None
    error: str | None
    error_at: datetime | None


@dataclass(frozen=True, slots=True)
class TickView:
    """A due moment and what came of it. Several that were left out together are one, up to `last_due`."""

    due: datetime
    outcome: str
    detail: str | None
    job_id: UUID | None
    fired_at: datetime
    last_due: datetime | None
    ticks: int


@dataclass(frozen=True, slots=True)
class Ground:
    """What is needed to check a trigger: the moment, its tenant and its definition; None: there is no such."""

    moment: datetime
    tenant_id: UUID | None
    slug: str | None
    timezone: str | None
    definition_id: UUID | None
    job_type: str | None
    is_active: bool | None


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run by hand: enqueued | duplicate | refused | skipped | pending | unknown."""

    job_id: UUID | None
    outcome: str
    detail: str | None


def list_triggers(
    *,
    id: UUID | None = None,
    tenant: UUID | None = None,
    trigger_type: str | None = None,
    is_enabled: bool | None = None,
    event_name: str | None = None,
    definition_key: str | None = None,
    before: UUID | None = None,
    most: int = 50,
    offset: int = 0,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[TriggerView]]:
    """Triggers, the newest first; `before` is the last id of the page before."""
    args = (id, tenant, trigger_type, is_enabled, event_name, definition_key, before, most, offset)
    return Statement(
        "list_triggers",
        sql("triggers/list_triggers", schema),
        args,
        lambda rows: [TriggerView(*row) for row in rows],
    )


def find_triggers(text: str, most: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[tuple[UUID, str]]]:
    """Ids and labels of triggers with this label, or whose id begins so."""
    return Statement(
        "find_triggers",
        sql("triggers/find_triggers", schema),
        (text, most),
        lambda rows: [(row[0], row[1]) for row in rows],
    )


def list_ticks(
    trigger: UUID, *, before: datetime | None = None, most: int = 50, schema: str = DEFAULT_SCHEMA
) -> Statement[list[TickView]]:
    """The ticks of a schedule, the newest first."""
    args = (trigger, before, most)
    return Statement(
        "list_ticks", sql("triggers/list_ticks", schema), args, lambda rows: [TickView(*row) for row in rows]
    )


def trigger_ground(
    tenant: UUID | None, definition_key: str | None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[Ground]:
    """The moment, the tenant (None: that of the scope, else the default one) and the definition."""
    return Statement(
        "trigger_ground",
        sql("triggers/trigger_ground", schema),
        (tenant, definition_key),
        lambda rows: Ground(*rows[0]),
    )


def save_trigger(
    id: UUID | None,
    seen: datetime | None,
    tenant: UUID | None,
    columns: Mapping[str, Any],
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[tuple[UUID | None, str]]:
    """Makes a trigger (`id` None), or changes one that was `seen` at that change.

    Answers its id, and saved | unknown | in_code | changed.
    """
    args = (id, seen, tenant, json.dumps(columns, default=str))
    return Statement(
        "save_trigger", sql("triggers/save_trigger", schema), args, lambda rows: (rows[0][0], rows[0][1])
    )


def remove_trigger(id: UUID, *, reason: str | None = None, schema: str = DEFAULT_SCHEMA) -> Statement[str]:
    """Takes a trigger out of use: removed | unknown | in_code."""
    return Statement(
        "remove_trigger", sql("triggers/remove_trigger", schema), (id, reason), lambda rows: rows[0][0]
    )


def run_trigger(
    id: UUID, payload: str, *, key: str | None, traceparent: str | None, schema: str = DEFAULT_SCHEMA
) -> Statement[Ran]:
    """A job of a trigger, by hand and at once; its window is not asked."""
    args = (id, payload, key, traceparent)
    return Statement("run_trigger", sql("triggers/run_trigger", schema), args, lambda rows: Ran(*rows[0]))


def register_triggers(
    modules: Sequence[str], triggers: Sequence[Mapping[str, Any]], *, schema: str = DEFAULT_SCHEMA
) -> Statement[dict[str, str]]:
    """Upserts what code declares, and takes out of use what these modules declare no more.

    Answer per label: created | changed | unchanged | removed | unknown_type.
    """
    args = (list(modules), json.dumps(triggers, default=str))
    return Statement(
        "register_triggers",
        sql("triggers/register_triggers", schema),
        args,
        lambda rows: {row[0]: row[1] for row in rows},
    )
