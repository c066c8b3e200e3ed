"""Inbound webhooks."""

from __future__ import annotations

from postmill.http.call import Call, Id, at, get, model, nothing, write
from postmill.shapes.paging import Page
from postmill.shapes.webhooks import Webhook, WebhookWithSecret

PATH = ("jobs", "webhooks")


def list_webhooks(*, limit: int | None = None, cursor: str | None = None) -> Call[Page[Webhook]]:
    """Inbound webhooks, the newest first."""
    return get(at(*PATH), model(Page[Webhook]), limit=limit, cursor=cursor)


def create_webhook(
    label: str,
    event_name: str,
    *,
    is_enabled: bool = True,
    tenant_id: Id | None = None,
    idempotency_key: str | None = None,
) -> Call[WebhookWithSecret]:
    """Makes an inbound webhook. Its secret is in this answer, and never again."""
    body = {"label": label, "event_name": event_name, "is_enabled": is_enabled, "tenant_id": tenant_id}
    return write("POST", at(*PATH), model(WebhookWithSecret), body, key=idempotency_key)


def get_webhook(webhook_id: Id) -> Call[Webhook]:
    """One webhook."""
    return get(at(*PATH, webhook_id), model(Webhook))


def change_webhook(
    webhook_id: Id,
    *,
    label: str | None = None,
    event_name: str | None = None,
    is_enabled: bool | None = None,
    idempotency_key: str | None = None,
) -> Call[Webhook]:
    """Changes a webhook; what is None stays."""
    body = {"label": label, "event_name": event_name, "is_enabled": is_enabled}
    return write("PATCH", at(*PATH, webhook_id), model(Webhook), body, key=idempotency_key)


def rotate_webhook(webhook_id: Id, *, idempotency_key: str | None = None) -> Call[WebhookWithSecret]:
    """Gives a webhook a new secret, shown this once. The old one is good for another 24 hours."""
    path = at(*PATH, webhook_id, "rotate")
    return write("POST", path, model(WebhookWithSecret), key=idempotency_key)


def remove_webhook(webhook_id: Id, *, idempotency_key: str | None = None) -> Call[None]:
    """Takes a webhook out of use."""
    return write("DELETE", at(*PATH, webhook_id), nothing, key=idempotency_key)
