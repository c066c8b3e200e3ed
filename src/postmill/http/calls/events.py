"""Events, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.events import Event, EventDelivery, PublishedEvent
from postmill.shapes.paging import Page


def publish_event(
    name: str,
    context: Mapping[str, object] | None = None,
    *,
    correlation_id: str | None = None,
    tenant_id: Id | None = None,
    traceparent: str | None = None,
    idempotency_key: str | None = None,
) -> Call[PublishedEvent]:
    """Publishes an event, once: the triggers that wait for it make their jobs at once. See `enqueue` for the rest."""
    body = {"name": name, "context": context, "correlation_id": correlation_id, "tenant_id": tenant_id}
    return write(
        "POST",
        at("events"),
        model(PublishedEvent),
        body,
        key=idempotency_key,
        headers={"traceparent": traceparent},
    )


def list_events(
    *,
    name: str | None = None,
    correlation_id: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    limit: int | None = None,
    offset: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Event]]:
    """Events, the newest first."""
    return get(
        at("events"),
        model(Page[Event]),
        name=name,
        correlation_id=correlation_id,
        created_after=created_after,
        created_before=created_before,
        limit=limit,
        offset=offset,
        cursor=cursor,
    )


def get_event(event_id: Id) -> Call[Event]:
    """One event. Its context needs the permission `payloads.read`."""
    return get(at("events", event_id), model(Event))


def list_event_deliveries(event_id: Id) -> Call[Page[EventDelivery]]:
    """What came of an event at each trigger that it met."""
    return get(at("events", event_id, "deliveries"), model(Page[EventDelivery]))
