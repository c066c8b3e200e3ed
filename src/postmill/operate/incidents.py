"""What people do with incidents, whatever face they use. Each is a flow; acts are audited."""

from __future__ import annotations

from uuid import UUID

from postmill.domain.errors import NotFound, PostmillError
from postmill.domain.queue import match_queue
from postmill.store import incidents as store
from postmill.store import queues
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow
from postmill.store.incidents import IncidentView, NotificationView


class IncidentRefused(PostmillError):
    """An incident cannot be acted on so."""


def incidents(
    *,
    status: str | None = "live",
    kind: str | None = None,
    queue: str | None = None,
    before: UUID | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[IncidentView]]:
    """Incidents, the newest first; `status`: open, acknowledged, resolved, live (not resolved), None: all.

    Raises:
        UnknownQueue: with what exists and what was probably meant.
    """
    if queue is not None:
        queue = match_queue(queue, (yield queues.read_queue_names(schema=schema)))
    found: list[IncidentView] = yield store.list_incidents(
        status=status, kind=kind, queue=queue, before=before, most=most, schema=schema
    )
    return found


def incident(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[IncidentView]:
    """One incident. Raises NotFound."""
    found: list[IncidentView] = yield store.list_incidents(id=id, most=1, schema=schema)
    if not found:
        raise NotFound(f"there is no incident {id}")
    return found[0]


def told(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[list[NotificationView]]:
    """Whom an incident was, or will be, told."""
    found: list[NotificationView] = yield store.list_notifications(id, schema=schema)
    return found


def jobs(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[list[UUID]]:
    """The first hundred jobs of an incident."""
    found: list[UUID] = yield store.list_incident_jobs(id, schema=schema)
    return found


def acknowledge(
    id: UUID, *, reason: str | None = None, actor: str | None = None, schema: str = DEFAULT_SCHEMA
) -> Flow[IncidentView]:
    """Somebody takes care of it: no further step of its policy is taken, and who was told is told so.

    One that was acknowledged before stays as it is.

    Raises:
        NotFound: there is no such incident.
        IncidentRefused: it is over, or it affects other tenants, too.
    """
    status: str = yield store.acknowledge_incident(id, reason=reason, actor=actor, schema=schema)
    return (yield from _answered(id, status, schema))


def resolve(
    id: UUID, *, reason: str | None = None, actor: str | None = None, schema: str = DEFAULT_SCHEMA
) -> Flow[IncidentView]:
    """Ends an incident by hand; what goes on being wrong is raised again. One that is over stays as it is.

    Raises:
        NotFound: there is no such incident.
        IncidentRefused: it affects other tenants, too.
    """
    status: str = yield store.end_incident(id, reason=reason, actor=actor, schema=schema)
    return (yield from _answered(id, status, schema))


def _answered(id: UUID, status: str, schema: str) -> Flow[IncidentView]:
    if status == "unknown":
        raise NotFound(f"there is no incident {id}")
    if status == "over":
        raise IncidentRefused(f"incident {id} is over already")
    if status == "shared":
        raise IncidentRefused(f"incident {id} affects other tenants, too: only the platform acts on it")
    return (yield from incident(id, schema=schema))
