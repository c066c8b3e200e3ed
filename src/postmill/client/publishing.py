"""Publishing events: written, rendered and turned into jobs in the caller's own transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from postmill.client.rendering import Wanted, rendered
from postmill.domain.errors import NotFound, TenantMoved, TenantMoving
from postmill.domain.event import Delivery, Published, check_context, check_event_name
from postmill.domain.job_options import ActorType, normalize
from postmill.domain.lane import DEFAULT_TENANT
from postmill.domain.template import EVENT_ROOTS
from postmill.domain.trigger_context import common, of_event
from postmill.store import events
from postmill.store.events import Met, NewEvent, Pending, Settled
from postmill.store.firing import Row
from postmill.store.flow import Flow


def publish(
    schema: str,
    name: str,
    context: Mapping[str, object] | None = None,
    *,
    tenant: UUID | str | None = None,
    correlation_id: str | None = None,
    request_id: str | None = None,
    traceparent: str | None = None,
    actor_type: ActorType = "system",
    actor_id: UUID | str | None = None,
) -> Flow[Published]:
    """Publishes an event, and makes the jobs of the triggers that it meets.

    Args:
        name: words with dots between them, as `provider.folder.updated`.
        context: what templates see as `event`; a JSON object of at most 1 MiB.
        tenant: whose event it is; None is the default tenant.
        correlation_id: groups what belongs together; its jobs carry it on. None: the event's id.
        request_id, traceparent, actor_type, actor_id: as those of a job.

    Returns:
        The event's id, and what came of it at each trigger. A delivery that is `pending` is settled by a worker, as
        soon as the transaction is committed: an equal payload's dedupe window is held by one that is still open.

    Raises:
        PayloadRefused: the name or the context cannot be; nothing was written.
        NotFound: there is no such tenant; nothing was written.
    """
    given: dict[str, Any] = {
        "tenant": tenant, "correlation_id": correlation_id, "request_id": request_id, "traceparent": traceparent,
        "actor_type": actor_type, "actor_id": actor_id,
    }  # fmt: skip
    options = normalize({name: value for name, value in given.items() if value is not None})
    checked = context if context is not None else {}
    text = check_context(checked).decode()
    owner = cast("UUID", options.get("tenant_id", DEFAULT_TENANT))
    event: NewEvent = yield events.publish_event(
        check_event_name(name),
        text,
        tenant=owner,
        correlation_id=cast("str | None", options.get("correlation_id")),
        request_id=cast("str | None", options.get("request_id")),
        traceparent=cast("str | None", options.get("traceparent")),
        actor_type=actor_type,
        actor_id=cast("str | None", options.get("actor_id")),
        schema=schema,
    )
    if event.id is None and event.away is not None:
        raise TenantMoved(event.cell) if event.away == "moved" else TenantMoving(event.cell)
    if event.id is None:
        raise NotFound(f"there is no tenant {owner}")
    return (yield from delivered(schema, event, name, json.loads(text), owner))


def delivered(
    schema: str, event: NewEvent, name: str, context: Mapping[str, Any], tenant: UUID, *, door: bool = False
) -> Flow[Published]:
    """What came of an event that was just written, at each trigger that it met. `door`: within a request's scope."""
    assert event.id is not None
    if not event.met:
        return Published(event.id, event.published_at)
    waiting = [
        Pending(event.id, name, "", event.published_at, event.correlation_id, tenant, met)
        for met in event.met
    ]
    settled = yield from settle(schema, waiting, [context] * len(waiting), door=door)
    found = {answer.trigger_id: answer for answer in settled}
    return Published(
        event.id, event.published_at, tuple(_delivery(met, found.get(met.trigger_id)) for met in event.met)
    )


def settle(
    schema: str, waiting: Sequence[Pending], contexts: Sequence[Mapping[str, Any]], *, door: bool = False
) -> Flow[list[Settled]]:
    """Renders pending deliveries and settles them."""
    payloads = yield from rendered(
        schema, [_wanted(it, context) for it, context in zip(waiting, contexts, strict=True)]
    )
    rows = [
        Row({"event_id": it.event_id, "trigger_id": it.met.trigger_id}, payload)
        for it, payload in zip(waiting, payloads, strict=True)
    ]
    answers: list[Settled] = yield events.deliver_events(rows, door=door, schema=schema)
    return answers


def _wanted(waiting: Pending, context: Mapping[str, Any]) -> Wanted:
    met = waiting.met
    known = common(met.trigger_id, met.label, waiting.tenant_id, met.tenant_slug, met.tenant_zone)
    known |= of_event(
        context,
        event_id=waiting.event_id,
        name=waiting.name,
        published_at=waiting.published_at,
        correlation_id=waiting.correlation_id,
    )
    return Wanted(
        waiting.tenant_id, met.job_type, met.payload_template, EVENT_ROOTS, known, waiting.correlation_id
    )


def _delivery(met: Met, settled: Settled | None) -> Delivery:
    if settled is None:
        return Delivery(met.trigger_id, met.label, "pending")
    return Delivery(met.trigger_id, met.label, settled.outcome, settled.detail, settled.job_id)
