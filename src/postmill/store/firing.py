"""Statements that turn rendered triggers into jobs: what the scheduler, the deliverer and publishers send."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a trigger wants: a payload (JSON text) with its hash and maybe a key, or the outcome that there is none."""

    payload: str | None = None
    hash: str | None = None
    key: str | None = None
    outcome: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One element for fire_ticks or deliver_events: facts beside what was rendered."""

    facts: dict[str, Any]
    rendered: Rendered = field(default_factory=Rendered)


@dataclass(frozen=True, slots=True)
class DueTrigger:
    """A schedule that is due, or that has no next run yet, as it was seen at `moment`."""

    moment: datetime
    id: UUID
    tenant_id: UUID
    label: str
    cron_expr: str | None
    every_seconds: float | None
    timezone: str
    dst: str
    anchored_at: datetime
    payload_template: str
    missed: str
    missed_limit: int
    jitter_seconds: int
    next_run_at: datetime | None
    job_type: str
    tenant_slug: str
    tenant_zone: str


@dataclass(frozen=True, slots=True)
class Fired:
    """What came of a tick. `stale`: another scheduler had it; `pending`: it stays due. `late` is in seconds."""

    trigger_id: UUID
    due: datetime
    outcome: str
    detail: str | None
    job_id: UUID | None
    late: float


def due_triggers(
    since: datetime | None, most: int, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[DueTrigger]]:
    """Schedules that are due, the oldest first, and those without a next run; `since` as in upkeep/next_tick."""
    args = (since, most)
    return Statement(
        "due_triggers",
        sql("triggers/due_triggers", schema),
        args,
        lambda rows: [DueTrigger(*row) for row in rows],
    )


def fire_ticks(rows: Sequence[Row], *, schema: str = DEFAULT_SCHEMA) -> Statement[list[Fired]]:
    """Fires ticks, each only where its schedule still stands as it was seen."""
    return Statement(
        "fire_ticks",
        sql("triggers/fire_ticks", schema),
        (as_json(rows),),
        lambda found: [Fired(*row) for row in found],
    )


def plan_triggers(rows: Sequence[Row], *, schema: str = DEFAULT_SCHEMA) -> Statement[int]:
    """Sets the next run of schedules, or marks those that cannot be planned."""
    return Statement(
        "plan_triggers", sql("triggers/plan_triggers", schema), (as_json(rows),), lambda found: found[0][0]
    )


def as_json(rows: Sequence[Row]) -> str:
    """Rows as the text of a JSON array. Payloads are put in as they are: what they hold was checked."""
    return "[" + ",".join(map(_as_json, rows)) + "]"


def _as_json(row: Row) -> str:
    rendered = row.rendered
    facts = {
        **row.facts,
        "hash": rendered.hash,
        "key": rendered.key,
        "outcome": rendered.outcome,
        "detail": rendered.detail,
    }
    text = json.dumps({name: value for name, value in facts.items() if value is not None}, default=_plain)
    return text if rendered.payload is None else f'{text[:-1]}, "payload": {rendered.payload}}}'


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
