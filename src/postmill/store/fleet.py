"""Statements behind the console's pages of queues and tenants, for who sees the platform. Each is bounded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement
from postmill.store.tenants import TenantView


@dataclass(frozen=True, slots=True)
class QueueStanding:
    """How a queue stands beside its numbers.

    Attributes:
        workers, draining: live workers that claim from it, and those that do no more.
        slots: jobs at once of those that claim; an HTTP worker's are not told.
        arrived, ended, failed: jobs (failed: attempts) a minute, of the last five whole minutes.
        wait_p95, run_p95, total_p95: seconds, of the last ten minutes; None: nothing was measured.
        n: jobs that these are of.
        attained_day, burn_day: share of the last day within the promise, and how quickly what may be late was used up.
        breach_since, breach_title, incident_id: the open incident of its SLA.
        ended_hour: jobs that ended in each minute of the last hour.
        runbook: where it says what is to be done; an address outside.
    """

    queue: str
    workers: int
    draining: int
    slots: int
    arrived: float
    ended: float
    failed: float
    wait_p95: float | None
    run_p95: float | None
    total_p95: float | None
    n: int
    attained_day: float | None
    burn_day: float | None
    breach_since: datetime | None
    breach_title: str | None
    incident_id: UUID | None
    ended_hour: list[int]
    runbook: str | None


@dataclass(frozen=True, slots=True)
class CoursePoint:
    """One bucket of a queue's course: what happened in it, and the highest depths.

    `waits` and `runs`: seconds below which 50, 95 and 99 of a hundred were; None: nothing was measured.
    """

    bucket: datetime
    arrived: int
    ended: int
    failed: int
    queued: int
    running: int
    slots: int
    waits: tuple[float | None, float | None, float | None]
    runs: tuple[float | None, float | None, float | None]


@dataclass(frozen=True, slots=True)
class Depth:
    """How many jobs of a tenant are where, by the last measurement. `tenant`: its slug; empty: none; `other`: the rest."""

    queue: str
    tenant: str
    state: str
    n: int
    oldest_seconds: float | None


@dataclass(frozen=True, slots=True)
class TenantInQueue:
    """What a tenant did in a queue lately; `weight` is its share beside others'."""

    tenant_id: UUID
    slug: str | None
    weight: int
    arrived: int
    ended: int
    failed: int
    run_seconds: float
    wait_average: float | None


@dataclass(frozen=True, slots=True)
class TypeLimit:
    """Limits of a job type. `blocked_seconds`: for how long its rate lets nothing start any more."""

    job_type: str
    worker_limit: int | None
    rate_count: int | None
    rate_seconds: float | None
    rate_burst: int | None
    blocked_seconds: float | None


@dataclass(frozen=True, slots=True)
class LogLine:
    """One thing that was done to something."""

    id: UUID
    at: datetime
    actor_type: str
    actor_id: str | None
    role: str | None
    via: str
    action: str
    result: str
    reason: str | None
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class TenantStanding:
    """What a tenant did lately.

    Attributes:
        failed: attempts.
        judged, late: jobs with a promise, and those of them that took longer.
        fleet_seconds: what the jobs of all ran in that time.
        last_at: the minute of the last thing that happened.
    """

    tenant_id: UUID
    arrived: int
    ended: int
    failed: int
    run_seconds: float
    judged: int
    late: int
    fleet_seconds: float | None
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class Above:
    """What is to be said above every page: see `read_banner` in SQL."""

    paused: list[str]
    more_paused: int
    measured_seconds: float | None
    migrating: bool
    types: list[str]
    types_until: list[datetime | None]
    more_types: int


def queue_standing(
    name: str | None = None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[dict[str, QueueStanding]]:
    """Of every queue, or of the one of this name."""
    return Statement(
        "queue_standing",
        sql("console/queue_standing", schema),
        (name,),
        lambda rows: {row[0]: QueueStanding(*row) for row in rows},
    )


def queue_course(
    name: str, seconds: float, bucket: float, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[CoursePoint]]:
    """The course of a queue in the last so many seconds, by buckets of at least a minute; two days are kept."""
    return Statement(
        "queue_course",
        sql("console/queue_course", schema),
        (name, seconds, bucket),
        lambda rows: [_point(row) for row in rows],
    )


def depths(name: str | None = None, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[Depth]]:
    """Depths of all queues, or of one, by tenant and state."""
    return Statement(
        "depths", sql("console/depths", schema), (name,), lambda rows: [Depth(*row) for row in rows]
    )


def queue_tenants(
    name: str, *, seconds: float = 900.0, most: int = 50, schema: str = DEFAULT_SCHEMA
) -> Statement[list[TenantInQueue]]:
    """Who took the time of a queue, the largest first."""
    return Statement(
        "queue_tenants",
        sql("console/queue_tenants", schema),
        (name, seconds, most),
        lambda rows: [TenantInQueue(*row) for row in rows],
    )


def queue_limits(name: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[TypeLimit]]:
    """The limits of the job types of a queue."""
    return Statement(
        "queue_limits",
        sql("console/queue_limits", schema),
        (name,),
        lambda rows: [TypeLimit(*r) for r in rows],
    )


def object_log(
    kind: str, target: str, most: int = 20, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[LogLine]]:
    """What was done to a queue, worker or tenant, the latest first."""
    return Statement(
        "object_log",
        sql("console/object_log", schema),
        (kind, target, most),
        lambda rows: [_line(row) for row in rows],
    )


def tenant_page(
    *,
    after: str = "",
    most: int = 50,
    status: str | None = None,
    begins: str | None = None,
    slugs: Sequence[str] | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[TenantView]]:
    """Tenants by slug: of a status, whose slug or name begins so, or these."""
    args = (after, most, status, begins, None if slugs is None else list(slugs))
    return Statement(
        "tenant_page", sql("console/tenant_page", schema), args, lambda rows: [TenantView(*r) for r in rows]
    )


def tenant_standing(
    ids: Sequence[UUID], *, seconds: float = 3600.0, schema: str = DEFAULT_SCHEMA
) -> Statement[dict[UUID, TenantStanding]]:
    """What these tenants did in the hour of so many seconds ago, and since."""
    return Statement(
        "tenant_standing",
        sql("console/tenant_standing", schema),
        (list(ids), seconds),
        lambda rows: {row[0]: TenantStanding(*row) for row in rows},
    )


def budget_shares(
    ids: Sequence[UUID], *, schema: str = DEFAULT_SCHEMA
) -> Statement[dict[UUID, tuple[str, float | None]]]:
    """The fullest budget of each of these tenants: its name, and the share of its limit that is used."""
    return Statement(
        "budget_shares",
        sql("console/budget_shares", schema),
        (list(ids),),
        lambda rows: {row[0]: (row[1], row[2]) for row in rows},
    )


def above(*, schema: str = DEFAULT_SCHEMA) -> Statement[Above]:
    """What is to be said above every page."""
    lock = f"postmill.migrate.{schema}"  # as sql/schema/lock.sql has it
    return Statement("above", sql("console/banner", schema), (lock,), lambda rows: Above(*rows[0]))


def _quantiles(four: Sequence[float | None] | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if four is None else (four[1], four[2], four[3])


def _point(row: Sequence[Any]) -> CoursePoint:
    return CoursePoint(*[*row[:7], _quantiles(row[7]), _quantiles(row[8])])


def _line(row: Sequence[Any]) -> LogLine:
    return LogLine(*[*row[:9], _json(row[9]), _json(row[10])])


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)
