"""Inbound webhooks: signed messages become events. Who may manage triggers manages them."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request, Response

from postmill.api.asked import Asked, may
from postmill.api.context import traceparent
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.problems import Problem, not_found
from postmill.api.receiving import receive
from postmill.api.routing import location, new_router
from postmill.domain.access import Action
from postmill.operate import webhooks
from postmill.operate.webhooks import NewSecret
from postmill.shapes.paging import Page
from postmill.shapes.webhooks import (
    NewWebhook,
    ReceivedWebhook,
    Webhook,
    WebhookChanges,
    WebhookWithSecret,
)
from postmill.store.webhooks import list_webhooks as listed

router = new_router("webhooks")

PATH = "/jobs/webhooks"
ONE = PATH + "/{webhook_id:uuid}"

Read = Annotated[Asked, Depends(may(Action.TRIGGERS_READ))]
Write = Annotated[Asked, Depends(may(Action.TRIGGERS_WRITE))]


@router.post(
    "/webhooks/{webhook_id:uuid}",
    status_code=202,
    responses={
        200: {"model": ReceivedWebhook, "description": "It came before; nothing was done again."},
        401: {"description": "The signature does not fit, or the timestamp is too far off."},
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"type": "object"}, "example": {"folder_path": "/invoices"}}
            },
        }
    },
)
async def receive_webhook(webhook_id: UUID, request: Request, response: Response) -> ReceivedWebhook:
    """Take a message of a sender that signs (Standard Webhooks 1.0), and publish its event.

    It needs no key: the headers `webhook-id`, `webhook-timestamp` (at most five minutes off) and `webhook-signature`
    are the credentials. The body is the event's context. A message that comes again is answered as before.
    """
    received = await receive(
        request.app.state.backend,
        webhook_id,
        request.headers,
        await request.body(),
        await request.json(),
        request_id=request.state.request_id,
        traceparent=traceparent(request),
    )
    if received.status == "unknown":
        raise not_found("webhook")
    if received.status == "denied":
        raise Problem(401, "bad-signature", "webhook-signature: does not fit the message")
    if received.status == "stale":
        raise Problem(401, "stale-message", "webhook-timestamp: is more than five minutes off")
    if received.status == "duplicate":
        response.status_code = 200
    assert received.event_id is not None
    return ReceivedWebhook(event_id=received.event_id, duplicate=received.status == "duplicate")


@router.get(PATH)
async def list_webhooks(asked: Read, limit: Limit = 50, cursor: Cursor = None) -> Page[Webhook]:
    """List inbound webhooks, the newest first."""
    before = None if cursor is None else parts_of(cursor, UUID)[0]
    found = await asked.run(listed(before=before, most=limit, schema=asked.schema))
    items = [Webhook.model_validate(view) for view in found]
    return Page(items=items, next=cursor_of(items[-1].id) if len(items) == limit else None)


@router.post(PATH, status_code=201, responses={404: {"description": "There is no such tenant in scope."}})
async def create_webhook(
    asked: Write, body: NewWebhook, request: Request, response: Response
) -> WebhookWithSecret:
    """Make an inbound webhook. Its secret is in this answer, and never again."""
    made = await asked.drive(
        webhooks.create(
            body.label,
            body.event_name,
            is_enabled=body.is_enabled,
            tenant=body.tenant_id,
            schema=asked.schema,
        )
    )
    response.headers["Location"] = location(request, f"{PATH}/{made.webhook.id}")
    return _with_secret(made, response)


@router.get(ONE)
async def get_webhook(asked: Read, webhook_id: UUID) -> Webhook:
    """Show one webhook."""
    return Webhook.model_validate(await asked.drive(webhooks.show(webhook_id, schema=asked.schema)))


@router.patch(ONE)
async def change_webhook(asked: Write, webhook_id: UUID, body: WebhookChanges) -> Webhook:
    """Change a webhook."""
    flow = webhooks.change(
        webhook_id,
        label=body.label,
        event_name=body.event_name,
        is_enabled=body.is_enabled,
        schema=asked.schema,
    )
    return Webhook.model_validate(await asked.drive(flow))


@router.post(ONE + "/rotate")
async def rotate_webhook(asked: Write, webhook_id: UUID, response: Response) -> WebhookWithSecret:
    """Give a webhook a new secret, shown this once. The old one is good for another 24 hours."""
    return _with_secret(await asked.drive(webhooks.rotate(webhook_id, schema=asked.schema)), response)


@router.delete(ONE, status_code=204)
async def remove_webhook(asked: Write, webhook_id: UUID) -> None:
    """Take a webhook out of use."""
    await asked.drive(webhooks.remove(webhook_id, schema=asked.schema))


def _with_secret(made: NewSecret, response: Response) -> WebhookWithSecret:
    response.headers["Cache-Control"] = "no-store"
    own = Webhook.model_validate(made.webhook).model_dump()
    return WebhookWithSecret(**own, secret=made.secret)
