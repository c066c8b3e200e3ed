"""Events: publish, list, show, and what came of them."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query, Request, Response

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, Offset, cursor_of, parts_of
from postmill.api.problems import Problem
from postmill.api.routing import location, new_router
from postmill.api.trigger_shapes import delivery
from postmill.domain.access import Action
from postmill.domain.redaction import redacted
from postmill.operate import events
from postmill.shapes.events import Event, EventDelivery, NewEvent, PublishedEvent
from postmill.shapes.moments import Moment
from postmill.shapes.paging import Page
from postmill.store.events import EventView
from postmill.store.events import list_events as listed

router = new_router("events")

Read = Annotated[Asked, Depends(may(Action.EVENTS_READ))]


@router.post(
    "/events", status_code=201, responses={404: {"description": "There is no such tenant in scope."}}
)
async def publish_event(
    asked: Annotated[Asked, Depends(may(Action.EVENTS_PUBLISH))],
    body: NewEvent,
    request: Request,
    response: Response,
) -> PublishedEvent:
    """Publish an event: the triggers that wait for it make their jobs at once. The answer says what came of each."""
    flow = events.publish(
        body.name,
        body.context,
        tenant=body.tenant_id,
        correlation_id=body.correlation_id or asked.correlation_id,
        traceparent=asked.traceparent,
        schema=asked.schema,
    )
    published = await asked.drive(flow)
    response.headers["Location"] = location(request, f"/events/{published.id}")
    return PublishedEvent.model_validate(published)


@router.get("/events")
async def list_events(
    asked: Read,
    name: Annotated[str | None, Query(max_length=200, description="Of exactly this name.")] = None,
    correlation_id: Annotated[str | None, Query(max_length=200, description="Of this correlation.")] = None,
    created_after: Annotated[Moment | None, Query(description="Published after this moment.")] = None,
    created_before: Annotated[Moment | None, Query(description="Published before this moment.")] = None,
    limit: Limit = 50,
    offset: Offset = 0,
    cursor: Cursor = None,
) -> Page[Event]:
    """List events, the newest first."""
    if cursor is not None and offset:
        raise Problem(422, "invalid-cursor", "cursor and offset exclude each other")
    found = await asked.run(
        listed(
            name=name,
            correlation_id=correlation_id,
            created_after=created_after,
            created_before=created_before,
            before=None if cursor is None else parts_of(cursor, UUID)[0],
            most=limit,
            offset=offset,
            schema=asked.schema,
        )
    )
    items = [_shown(asked, view) for view in found]
    return Page(items=items, next=cursor_of(items[-1].id) if len(items) == limit else None)


@router.get("/events/{event_id:uuid}")
async def get_event(asked: Read, event_id: UUID) -> Event:
    """Show one event."""
    return _shown(asked, await asked.drive(events.show(event_id, schema=asked.schema)))


@router.get("/events/{event_id:uuid}/deliveries")
async def list_event_deliveries(asked: Read, event_id: UUID) -> Page[EventDelivery]:
    """What came of an event at each trigger that it met: its job, or the reason why there is none."""
    found = await asked.drive(events.deliveries(event_id, schema=asked.schema))
    return Page(items=[delivery(view) for view in found], next=None)


def _shown(asked: Asked, view: EventView) -> Event:
    event = Event.model_validate(view)
    if asked.principal.may(Action.PAYLOADS_READ):
        return event.model_copy(update={"context": redacted(view.context)})
    return event.model_copy(update={"context": None})
