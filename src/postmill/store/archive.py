"""Statements on the cold archive: what the database knows of its units. Their files are the business of `postmill.archive`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.domain.archive import Manifest
from postmill.domain.job_options import ActorType
from postmill.store.audit import MAX_ID, MAX_TIME
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class UnitView:
    """A unit of the archive. `rows` are those in scope; manifest only of one that is archived."""

    id: UUID
    source: str
    status: str
    since: datetime
    until: datetime
    rows: int | None
    bytes: int | None
    made_at: datetime
    archived_at: datetime | None
    deleted_at: datetime | None
    tries: int
    error: str | None
    manifest: Manifest | None


@dataclass(frozen=True, slots=True)
class ArchiveState:
    """Whether an archive is required, and what waits for it: units, seconds since the oldest does, those that failed."""

    required: bool
    waiting: int
    oldest_seconds: float | None
    failing: int
    error: str | None


def units(
    *,
    before: tuple[datetime, UUID] = (MAX_TIME, MAX_ID),
    most: int = 50,
    source: str | None = None,
    status: str | None = None,
    job: UUID | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[UnitView]]:
    """Units in scope, the latest stretch first; `job`: archived ones that may speak of it."""
    return Statement(
        "units",
        sql("archive/list_units", schema),
        (*before, most, source, status, job),
        lambda rows: [_unit(row) for row in rows],
    )


def _unit(row: Sequence[Any]) -> UnitView:
    manifest = None if row[12] is None else Manifest.of(json.loads(row[12]), f"unit {row[0]}")
    return UnitView(*[*row[:12], manifest])


def state(*, schema: str = DEFAULT_SCHEMA) -> Statement[ArchiveState]:
    """What waits for the archive."""
    return Statement("state", sql("archive/state", schema), (), lambda rows: ArchiveState(*rows[0]))


def switch(
    on: bool,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[str]:
    """changed | unchanged | out_of_scope"""
    args = (on, reason, actor_type, actor_id)
    return Statement("switch", sql("archive/switch", schema), args, lambda rows: str(rows[0][0]))
