"""Incidents: list, show, acknowledge, resolve."""

from __future__ import annotations

from typing import Literal

from postmill.domain.escalation import IncidentKind
from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.incidents import Incident, WholeIncident
from postmill.shapes.paging import Page


def list_incidents(
    *,
    status: Literal["open", "acknowledged", "resolved", "live"] | None = None,
    kind: IncidentKind | None = None,
    queue: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Incident]]:
    """Incidents, the newest first; `live` are all that are not resolved."""
    return get(
        at("incidents"),
        model(Page[Incident]),
        status=status,
        kind=kind,
        queue=queue,
        limit=limit,
        cursor=cursor,
    )


def get_incident(incident_id: Id) -> Call[WholeIncident]:
    """One incident: whom it was told, and its jobs."""
    return get(at("incidents", incident_id), model(WholeIncident))


def acknowledge_incident(
    incident_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[Incident]:
    """Says that somebody takes care of it. Conflict where it is over, or affects other tenants, too."""
    path = at("incidents", incident_id, "acknowledge")
    return write("POST", path, model(Incident), {"reason": reason}, key=idempotency_key)


def resolve_incident(
    incident_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[Incident]:
    """Ends an incident by hand. Conflict where it affects other tenants, too."""
    path = at("incidents", incident_id, "resolve")
    return write("POST", path, model(Incident), {"reason": reason}, key=idempotency_key)
