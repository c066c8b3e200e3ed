"""A signed message becomes an event: checked by the database, and its jobs made within the tenant's scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from postmill.api.backend import Backend
from postmill.api.problems import Problem
from postmill.bind import adrive, arun
from postmill.client.publishing import delivered
from postmill.domain.access import Principal, Role
from postmill.domain.errors import PayloadRefused
from postmill.domain.event import check_context
from postmill.domain.webhook import WebhookRefused, read_headers
from postmill.store.access import begin_request
from postmill.store.webhooks import Received
from postmill.store.webhooks import receive_webhook as received


async def receive(
    backend: Backend,
    id: UUID,
    headers: Mapping[str, str],
    body: bytes,
    context: Any,
    *,
    request_id: str,
    traceparent: str | None,
) -> Received:
    """Takes one message; all that comes of it is in one transaction.

    Raises:
        Problem: 401 for headers that are none, 422 for a body that is no object that can be stored.
    """
    try:
        signed = read_headers(headers)
    except WebhookRefused as fault:
        raise Problem(401, "bad-signature", str(fault)) from None
    if not isinstance(context, dict):
        raise PayloadRefused("context", "the body is a JSON object")
    text = check_context(context).decode()
    statement = received(
        id, signed, body, text, request_id=request_id, traceparent=traceparent, schema=backend.schema
    )
    async with backend.pool.connection() as conn, conn.transaction():
        answer = await arun(conn, statement)
        if answer.event is not None and answer.tenant_id is not None and answer.event.met:
            who = Principal("system", f"webhook:{id}", Role.OPERATOR, answer.tenant_id)
            await arun(conn, begin_request(who, request_id, schema=backend.schema))
            # The name of the event is the webhook's; templates see it as it was published.
            name = answer.event_name or ""
            await adrive(
                conn, delivered(backend.schema, answer.event, name, context, answer.tenant_id, door=True)
            )
        return answer
