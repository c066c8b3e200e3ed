"""Statements that tell of many dead letters at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.domain.letters import LetterFilter
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement


@dataclass(frozen=True, slots=True)
class Cause:
    """Letters of one HTTP status and reason: seed 4's question, section 5."""

    status: int | None
    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class GroupCount:
    """Letters of one error group; `opened_hour` of them were given up within the last hour."""

    error_group: str | None
    job_type: str | None
    error_class: str | None
    error_message: str | None
    count: int
    tenants: int
    opened_hour: int
    oldest: datetime | None
    newest: datetime | None


@dataclass(frozen=True, slots=True)
class Count:
    """Letters of one job type, queue or tenant (its slug, or its id where it is not registered)."""

    name: str
    count: int
    id: UUID | None = None


@dataclass(frozen=True, slots=True)
class DeadStatistics:
    """The open dead letters at a glance; each list has the largest first and ends at 50.

    Growth: `opened_…` were given up, `closed_…` replayed or discarded, within the last hour and day (to ten minutes).
    """

    open: int
    oldest: datetime | None
    opened_hour: int
    closed_hour: int
    opened_day: int
    closed_day: int
    by_cause: list[Cause]
    by_group: list[GroupCount]
    by_type: list[Count]
    by_queue: list[Count]
    by_tenant: list[Count]


@dataclass(frozen=True, slots=True)
class MetCause:
    """Letters of one cause that a bulk act would meet."""

    status: int | None
    reason: str
    error_group: str | None
    job_type: str | None
    error_class: str | None
    count: int


@dataclass(frozen=True, slots=True)
class Sample:
    """One of those letters."""

    id: UUID
    job_type: str | None
    reason: str
    error_message: str | None
    failed_at: datetime


@dataclass(frozen=True, slots=True)
class DeadPreview:
    """What a bulk act would meet. `by_replay_class`: safe, ask, never, inactive, unknown_type."""

    count: int
    tenants: int
    oldest: datetime | None
    newest: datetime | None
    by_cause: list[MetCause]
    by_replay_class: dict[str, int]
    sample: list[Sample]


def read_dead_statistics(
    *, tenant: UUID | None = None, most: int = 50, schema: str = DEFAULT_SCHEMA
) -> Statement[DeadStatistics]:
    """How many open dead letters there are, of what causes, since when, and how fast they grow."""
    return Statement(
        "read_dead_statistics", sql("dead/read_dead_statistics", schema), (tenant, most), _statistics
    )


def read_dead_preview(
    chosen: LetterFilter, *, sample: int = 5, schema: str = DEFAULT_SCHEMA
) -> Statement[DeadPreview]:
    """What a bulk act on these letters would meet."""
    args = (json.dumps(chosen.json), sample)
    return Statement("read_dead_preview", sql("dead/read_dead_preview", schema), args, _preview)


def _statistics(rows: Rows) -> DeadStatistics:
    found: dict[str, Any] = json.loads(rows[0][0])
    return DeadStatistics(
        open=found["open"],
        oldest=_moment(found["oldest"]),
        opened_hour=found["opened_hour"],
        closed_hour=found["closed_hour"],
        opened_day=found["opened_day"],
        closed_day=found["closed_day"],
        by_cause=[Cause(**one) for one in found["by_cause"]],
        by_group=[GroupCount(**_moments(one, "oldest", "newest")) for one in found["by_group"]],
        by_type=[Count(one["job_type"] or "(body gone)", one["count"]) for one in found["by_type"]],
        by_queue=[Count(one["queue"], one["count"]) for one in found["by_queue"]],
        by_tenant=[
            Count(one["slug"] or one["tenant_id"], one["count"], UUID(one["tenant_id"]))
            for one in found["by_tenant"]
        ],
    )


def _preview(rows: Rows) -> DeadPreview:
    found: dict[str, Any] = json.loads(rows[0][0])
    return DeadPreview(
        count=found["count"],
        tenants=found["tenants"],
        oldest=_moment(found["oldest"]),
        newest=_moment(found["newest"]),
        by_cause=[MetCause(**one) for one in found["by_cause"]],
        by_replay_class=found["by_replay_class"],
        sample=[Sample(**{**_moments(one, "failed_at"), "id": UUID(one["id"])}) for one in found["sample"]],
    )


def _moments(one: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {**one, **{name: _moment(one[name]) for name in names}}


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
