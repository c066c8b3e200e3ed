"""What people do with inbound webhooks, whatever face they use. Each is a flow."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from postmill.domain.errors import InvalidValue, NotFound, PayloadRefused
from postmill.domain.event import check_event_name
from postmill.domain.payload import check_line
from postmill.domain.webhook import SECRET_BYTES, written_secret
from postmill.store import triggers
from postmill.store import webhooks as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow
from postmill.store.triggers import Ground
from postmill.store.webhooks import WebhookView

KEPT = timedelta(hours=24)
"""How long the secret before the last is good."""


@dataclass(frozen=True, slots=True)
class NewSecret:
    """A webhook with a secret that is shown this once."""

    webhook: WebhookView
    secret: str


def create(
    label: str,
    event_name: str,
    *,
    is_enabled: bool = True,
    tenant: UUID | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[NewSecret]:
    """Makes a webhook that publishes events of one name.

    Raises:
        InvalidValue: label or name cannot be.
        NotFound: there is no such tenant.
    """
    _check(label, event_name)
    ground: Ground = yield triggers.trigger_ground(tenant, None, schema=schema)
    secret = secrets.token_bytes(SECRET_BYTES)
    id, status = yield store.save_webhook(
        None, tenant=ground.tenant_id, label=label, event_name=event_name, is_enabled=is_enabled, secret=secret, schema=schema
    )  # fmt: skip
    if status != "saved" or id is None:
        raise NotFound(f"there is no tenant {tenant}")
    return NewSecret((yield from show(id, schema=schema)), written_secret(secret))


def change(
    id: UUID,
    *,
    label: str | None = None,
    event_name: str | None = None,
    is_enabled: bool | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[WebhookView]:
    """Changes what is not None. Raises as `create`."""
    _check(label, event_name)
    _, status = yield store.save_webhook(
        id, label=label, event_name=event_name, is_enabled=is_enabled, schema=schema
    )
    if status != "saved":
        raise NotFound(f"there is no webhook {id}")
    return (yield from show(id, schema=schema))


def rotate(id: UUID, *, keep: timedelta = KEPT, schema: str = DEFAULT_SCHEMA) -> Flow[NewSecret]:
    """Gives a webhook a new secret; the old one is good for another `keep`. Raises NotFound."""
    secret = secrets.token_bytes(SECRET_BYTES)
    status: str = yield store.rotate_webhook(id, secret, keep, schema=schema)
    if status != "saved":
        raise NotFound(f"there is no webhook {id}")
    return NewSecret((yield from show(id, schema=schema)), written_secret(secret))


def remove(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[None]:
    """Takes a webhook out of use, and forgets its secret. Raises NotFound."""
    status: str = yield store.remove_webhook(id, schema=schema)
    if status != "removed":
        raise NotFound(f"there is no webhook {id}")


def show(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[WebhookView]:
    """One webhook. Raises NotFound."""
    found: list[WebhookView] = yield store.list_webhooks(id=id, most=1, schema=schema)
    if not found:
        raise NotFound(f"there is no webhook {id}")
    return found[0]


def _check(label: str | None, event_name: str | None) -> None:
    try:
        if label is not None:
            check_line("label", label, longest=200)
        if event_name is not None:
            check_event_name(event_name)
    except PayloadRefused as fault:
        path = "event_name" if fault.path == "name" else fault.path
        raise InvalidValue(f"{path}: {fault.why}") from None
