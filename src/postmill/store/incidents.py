"""Statements on incidents: what is wrong now, once each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


def raise_incident(
    kind: str,
    key: str,
    severity: str,
    title: str,
    facts: Mapping[str, Any],
    *,
    tenant: UUID | None = None,
    queue: str | None = None,
    job_type: str | None = None,
    job: UUID | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[UUID]:
    """Raises an incident, or counts one more in the open one of this (kind, key). Answers its id.

    Args:
        kind: sla_breach, job_exhausted, dead_letters, stale_workers, missed_trigger, budget, notification, error_spike
            or replica_lag.
        key: what it is about; one incident is open for each.
        severity: info, warning or critical; the worst of what was raised holds.
        title: one line, for people.
        facts: more of it; `at` (an ISO moment) says when it happened, if not now.
    """
    args = (kind, key, severity, title, json.dumps(facts, default=str), tenant, queue, job_type, job)
    return Statement(
        "raise_incident", sql("incidents/raise_incident", schema), args, lambda rows: UUID(str(rows[0][0]))
    )


def resolve_incident(kind: str, key: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[UUID | None]:
    """Ends the open incident of this (kind, key): its id, or None where none was open."""
    return Statement(
        "resolve_incident", sql("incidents/resolve_incident", schema), (kind, key), lambda rows: rows[0][0]
    )


@dataclass(frozen=True, slots=True)
class IncidentView:
    """An incident, within the scope of who asks.

    Attributes:
        key: what it is about; None where it affects others than the tenant that asks, too.
        status: open, acknowledged or resolved.
        tenant_id: the one tenant whose it is; None: several, or the platform.
        count: how often it was raised; like `jobs`, `tenants` and `opened_at` since it came back, if it did.
        jobs, tenants: how many are affected.
        opened_at: since when; `last_at`: when it was raised last.
        reopened: how often it came back within ten minutes of its end; None where it affects others, too.
    """

    id: UUID
    kind: str
    key: str | None
    severity: str
    status: str
    title: str
    facts: dict[str, Any]
    tenant_id: UUID | None
    queue: str | None
    job_type: str | None
    count: int
    jobs: int
    tenants: int
    opened_at: datetime
    last_at: datetime
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    resolved_at: datetime | None
    resolved_by: str | None
    note: str | None
    reopened: int | None


@dataclass(frozen=True, slots=True)
class NotificationView:
    """Whom an incident was, or will be, told. `step` counts from 0; `status`: pending, sent, moved or failed."""

    event: str
    step: int
    channel: str
    instead_of: str | None
    status: str
    due_at: datetime | None
    sent_at: datetime | None
    tries: int
    error: str | None


def list_incidents(
    *,
    id: UUID | None = None,
    status: str | None = None,
    kind: str | None = None,
    queue: str | None = None,
    before: UUID | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[IncidentView]]:
    """Incidents, the newest first; `before` is the last id of the page before, `status` may be live: not resolved."""
    args = (id, status, kind, queue, before, most)
    return Statement(
        "list_incidents",
        sql("incidents/list_incidents", schema),
        args,
        lambda rows: [_incident(r) for r in rows],
    )


def _incident(row: Sequence[Any]) -> IncidentView:
    values = list(row)
    values[6] = json.loads(values[6])
    return IncidentView(*values)


def list_notifications(incident: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[NotificationView]]:
    """Whom an incident was told, in order."""
    return Statement(
        "list_notifications",
        sql("incidents/list_notifications", schema),
        (incident,),
        lambda rows: [NotificationView(*row) for row in rows],
    )


def list_incident_jobs(incident: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[UUID]]:
    """The first hundred jobs of an incident."""
    return Statement(
        "list_incident_jobs",
        sql("incidents/list_incident_jobs", schema),
        (incident,),
        lambda rows: [row[0] for row in rows],
    )


def acknowledge_incident(
    id: UUID, *, reason: str | None = None, actor: str | None = None, schema: str = DEFAULT_SCHEMA
) -> Statement[str]:
    """Somebody takes care of it: acknowledged | already | over | shared (it affects others, too) | unknown."""
    args = (id, reason, None if actor is None else "user", actor)
    return Statement(
        "acknowledge_incident",
        sql("incidents/acknowledge_incident", schema),
        args,
        lambda rows: str(rows[0][0]),
    )


def end_incident(
    id: UUID, *, reason: str | None = None, actor: str | None = None, schema: str = DEFAULT_SCHEMA
) -> Statement[str]:
    """An operator ends it: resolved | already | shared (it affects others, too) | unknown."""
    args = (id, reason, None if actor is None else "user", actor)
    return Statement(
        "end_incident", sql("incidents/end_incident", schema), args, lambda rows: str(rows[0][0])
    )
