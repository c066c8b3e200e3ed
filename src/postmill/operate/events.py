"""Publishing within a request's scope, and what there is to see of events. Each is a flow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from uuid import UUID

from postmill.client.publishing import delivered
from postmill.domain.errors import NotFound, TenantMoved, TenantMoving
from postmill.domain.event import Published, check_context, check_event_name
from postmill.store import events as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.events import DeliveryView, EventView, NewEvent
from postmill.store.flow import Flow


def publish(
    name: str,
    context: Mapping[str, object],
    *,
    tenant: UUID | None,
    correlation_id: str | None = None,
    traceparent: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[Published]:
    """Publishes an event as who began the request, and makes the jobs of the triggers that it meets.

    Raises:
        PayloadRefused: the name or the context cannot be.
        NotFound: there is no such tenant in scope.
    """
    text = check_context(context).decode()
    event: NewEvent = yield store.door_publish(
        check_event_name(name), text, tenant=tenant, correlation_id=correlation_id, traceparent=traceparent, schema=schema
    )  # fmt: skip
    if event.id is None and event.away is not None:
        raise TenantMoved(event.cell) if event.away == "moved" else TenantMoving(event.cell)
    if event.id is None:
        raise NotFound(f"there is no tenant {tenant}")
    # The tenant of what was written is that of the scope, where none was named.
    owner = tenant or (yield from show(event.id, schema=schema)).tenant_id
    return (yield from delivered(schema, event, name, json.loads(text), owner, door=True))


def show(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[EventView]:
    """One event. Raises NotFound."""
    found: list[EventView] = yield store.list_events(id=id, most=1, schema=schema)
    if not found:
        raise NotFound(f"there is no event {id}")
    return found[0]


def deliveries(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[list[DeliveryView]]:
    """What came of an event at each trigger that it met. Raises NotFound."""
    yield from show(id, schema=schema)
    found: list[DeliveryView] = yield store.list_deliveries(event=id, schema=schema)
    return found
