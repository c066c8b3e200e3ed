"""Statements on events and their deliveries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.firing import Row, as_json
from postmill.store.statement import Rows, Statement

GRACE = "5 seconds"
"""How long a publisher may take between writing its event and settling the deliveries, before a worker does it."""


@dataclass(frozen=True, slots=True)
class Met:
    """A trigger that an event meets, with what its template needs."""

    trigger_id: UUID
    label: str
    job_type: str
    payload_template: str
    tenant_slug: str
    tenant_zone: str


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event that was written. `id` None: nothing was written; the tenant is `away` (moving or moved, and the other
    cell), or there is none."""

    id: UUID | None
    published_at: datetime
    correlation_id: str
    met: tuple[Met, ...]
    away: str | None = None
    cell: str | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """A delivery that nobody has settled yet."""

    event_id: UUID
    name: str
    context: str
    published_at: datetime
    correlation_id: str
    tenant_id: UUID
    met: Met


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a delivery."""

    event_id: UUID
    trigger_id: UUID
    outcome: str
    detail: str | None
    job_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventView:
    """An event as it is read back."""

    id: UUID
    tenant_id: UUID
    name: str
    context: Any
    published_at: datetime
    actor_type: str
    actor_id: str | None
    request_id: str | None
    correlation_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryView:
    """What came of one event at one trigger; see domain.event.Delivery for the outcomes."""

    event_id: UUID
    trigger_id: UUID
    trigger_label: str
    outcome: str
    detail: str | None
    job_id: UUID | None
    decided_at: datetime | None


def publish_event(
    name: str,
    context: str,
    *,
    tenant: UUID | None,
    correlation_id: str | None,
    request_id: str | None,
    traceparent: str | None,
    actor_type: str | None,
    actor_id: str | None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[NewEvent]:
    """Writes an event, and a pending delivery for each trigger that it meets."""
    args = (name, context, tenant, correlation_id, request_id, traceparent, actor_type, actor_id, GRACE)
    return Statement("publish_event", sql("events/publish_event", schema), args, new_event)


def door_publish(
    name: str,
    context: str,
    *,
    tenant: UUID | None,
    correlation_id: str | None,
    traceparent: str | None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[NewEvent]:
    """The same within the scope of a request."""
    args = (name, context, tenant, correlation_id, traceparent, GRACE)
    return Statement("door_publish", sql("events/door_publish", schema), args, new_event)


def deliver_events(
    rows: Sequence[Row], *, door: bool = False, schema: str = DEFAULT_SCHEMA
) -> Statement[list[Settled]]:
    """Settles pending deliveries; one that somebody else settles has no row in the answer. `door`: of a request."""
    name = "door_deliver" if door else "deliver_events"
    return Statement(
        name, sql(f"events/{name}", schema), (as_json(rows),), lambda found: [Settled(*row) for row in found]
    )


def pending_deliveries(most: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[Pending]]:
    """Deliveries that wait, locked for this transaction."""
    return Statement(
        "pending_deliveries",
        sql("events/pending_deliveries", schema),
        (most,),
        lambda rows: [_pending(row) for row in rows],
    )


def list_events(
    *,
    id: UUID | None = None,
    name: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    correlation_id: str | None = None,
    before: UUID | None = None,
    most: int = 50,
    offset: int = 0,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[EventView]]:
    """Events, the newest first; `before` is the last id of the page before."""
    args = (id, name, created_after, created_before, correlation_id, before, most, offset)
    return Statement(
        "list_events", sql("events/list_events", schema), args, lambda rows: [_event(row) for row in rows]
    )


def list_deliveries(
    *,
    event: UUID | None = None,
    trigger: UUID | None = None,
    before: UUID | None = None,
    most: int = 1000,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[DeliveryView]]:
    """What came of one event, or of all events at one trigger, the newest first."""
    names = ("event_id", "trigger_id", "trigger_label", "outcome", "detail", "job_id", "decided_at")
    return Statement(
        "list_deliveries",
        sql("events/list_deliveries", schema),
        (event, trigger, before, most),
        lambda rows: [DeliveryView(**dict(zip(names, row, strict=True))) for row in rows],
    )


def _pending(row: Sequence[Any]) -> Pending:
    event_id, name, context, published_at, correlation_id, tenant_id, *met = row
    return Pending(event_id, name, context, published_at, correlation_id, tenant_id, Met(*met))


def new_event(rows: Rows) -> NewEvent:
    """What publishing answers: the event, and the triggers that it met."""
    id, published_at, correlation_id = rows[0][:3]
    if id is None:
        return NewEvent(id, published_at, correlation_id, (), rows[0][4], rows[0][5])
    return NewEvent(
        id, published_at, correlation_id, tuple(Met(*row[3:]) for row in rows if row[3] is not None)
    )


def _event(row: Sequence[Any]) -> EventView:
    id, tenant_id, name, context, *rest = row
    published_at, actor_type, actor_id, request_id, correlation_id = rest
    return EventView(
        id=id,
        tenant_id=tenant_id,
        name=name,
        context=json.loads(context),
        published_at=published_at,
        actor_type=actor_type,
        actor_id=actor_id,
        request_id=request_id,
        correlation_id=correlation_id,
    )
