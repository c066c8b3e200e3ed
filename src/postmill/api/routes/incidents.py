"""Incidents: list, show, acknowledge, resolve."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Query

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.routes.jobs import Queue
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.domain.escalation import IncidentKind
from postmill.operate import incidents
from postmill.shapes.incidents import ActOnIncident, Incident, Notification, WholeIncident
from postmill.shapes.paging import Page

router = new_router("incidents")

ONE = "/incidents/{incident_id:uuid}"

Read = Annotated[Asked, Depends(may(Action.INCIDENTS_READ))]
Act = Annotated[Asked, Depends(may(Action.INCIDENTS_ACT))]
Status = Annotated[
    Literal["open", "acknowledged", "resolved", "live"] | None,
    Query(description="`live` is all that are not resolved; none is all."),
]


@router.get("/incidents")
async def list_incidents(
    asked: Read,
    status: Status = None,
    kind: Annotated[IncidentKind | None, Query(description="Only of this kind.")] = None,
    queue: Queue = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Incident]:
    """List incidents, the newest first."""
    before = None if cursor is None else parts_of(cursor, UUID)[0]
    found = await asked.drive(
        incidents.incidents(
            status=status, kind=kind, queue=queue, before=before, most=limit, schema=asked.schema
        )
    )
    items = [Incident.model_validate(one) for one in found]
    return Page(items=items, next=cursor_of(items[-1].id) if len(items) == limit else None)


@router.get(ONE)
async def get_incident(incident_id: UUID, asked: Read) -> WholeIncident:
    """Show one incident: whom it was told, and its jobs."""
    schema = asked.schema
    found = Incident.model_validate(await asked.drive(incidents.incident(incident_id, schema=schema)))
    told = await asked.drive(incidents.told(incident_id, schema=schema))
    jobs = await asked.drive(incidents.jobs(incident_id, schema=schema))
    return WholeIncident(
        **found.model_dump(), notifications=[Notification.model_validate(one) for one in told], job_ids=jobs
    )


@router.post(ONE + "/acknowledge")
async def acknowledge_incident(incident_id: UUID, asked: Act, body: ActOnIncident | None = None) -> Incident:
    """Say that somebody takes care of it: its escalation stops, and who was told is told so."""
    reason = None if body is None else body.reason
    flow = incidents.acknowledge(incident_id, reason=reason, schema=asked.schema)
    return Incident.model_validate(await asked.drive(flow))


@router.post(ONE + "/resolve")
async def resolve_incident(incident_id: UUID, asked: Act, body: ActOnIncident | None = None) -> Incident:
    """End an incident by hand. What goes on being wrong is raised again."""
    reason = None if body is None else body.reason
    flow = incidents.resolve(incident_id, reason=reason, schema=asked.schema)
    return Incident.model_validate(await asked.drive(flow))
