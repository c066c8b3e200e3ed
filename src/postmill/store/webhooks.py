"""Statements on inbound webhooks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from postmill.domain.webhook import Signed
from postmill.store.arguments import interval
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.events import GRACE, NewEvent, new_event
from postmill.store.statement import Rows, Statement


@dataclass(frozen=True, slots=True)
class WebhookView:
    """An inbound webhook; its secret is shown to nobody."""

    id: UUID
    tenant_id: UUID
    label: str
    event_name: str
    is_enabled: bool
    created_by: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Received:
    """What became of a message: accepted | duplicate (`event_id` is the first one's) | stale | denied | unknown."""

    status: str
    tenant_id: UUID | None
    event_name: str | None
    event_id: UUID | None
    event: NewEvent | None


def receive_webhook(
    id: UUID,
    signed: Signed,
    body: bytes,
    context: str,
    *,
    request_id: str | None,
    traceparent: str | None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[Received]:
    """Checks a message and publishes its event, once."""
    args = (
        id, signed.message_id, signed.timestamp, list(signed.signatures), body, context, request_id, traceparent, GRACE,
    )  # fmt: skip
    return Statement("receive_webhook", sql("webhooks/receive_webhook", schema), args, _received)


def list_webhooks(
    *, id: UUID | None = None, before: UUID | None = None, most: int = 50, schema: str = DEFAULT_SCHEMA
) -> Statement[list[WebhookView]]:
    """Webhooks, the newest first; `before` is the last id of the page before."""
    return Statement(
        "list_webhooks",
        sql("webhooks/list_webhooks", schema),
        (id, before, most),
        lambda rows: [WebhookView(*row) for row in rows],
    )


def save_webhook(
    id: UUID | None,
    *,
    tenant: UUID | None = None,
    label: str | None = None,
    event_name: str | None = None,
    is_enabled: bool | None = None,
    secret: bytes | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[tuple[UUID | None, str]]:
    """Makes a webhook (`id` None) or changes what is not None. Answers its id, and saved | unknown."""
    args = (id, tenant, label, event_name, is_enabled, secret)
    return Statement(
        "save_webhook", sql("webhooks/save_webhook", schema), args, lambda rows: (rows[0][0], rows[0][1])
    )


def rotate_webhook(
    id: UUID, secret: bytes, keep: timedelta, *, schema: str = DEFAULT_SCHEMA
) -> Statement[str]:
    """A new secret; the old one is good for another `keep`. Answers saved | unknown."""
    args = (id, secret, interval(keep))
    return Statement("rotate_webhook", sql("webhooks/rotate_webhook", schema), args, lambda rows: rows[0][0])


def remove_webhook(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[str]:
    """Takes a webhook out of use: removed | unknown."""
    return Statement("remove_webhook", sql("webhooks/remove_webhook", schema), (id,), lambda rows: rows[0][0])


def _received(rows: Rows) -> Received:
    status, tenant_id, event_name, event_id = rows[0][:4]
    event = new_event([row[3:] for row in rows]) if status == "accepted" else None
    return Received(status, tenant_id, event_name, event_id, event)
