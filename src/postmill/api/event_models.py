"""Events, deliveries and webhooks in bodies and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, cast
from uuid import UUID

from pydantic import Field

from postmill.api.models import Model
from postmill.api.trigger_models import ID as TRIGGER
from postmill.api.trigger_models import JOB, TENANT
from postmill.store.events import DeliveryView

ID = "0198f3a2-7c11-7abc-8d2e-5a1c9f0b7e43"
NAME = r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$"

Outcome = Literal["pending", "enqueued", "duplicate", "skipped", "failed", "refused"]


class NewEvent(Model):
    """An event to be published."""

    name: str = Field(max_length=200, pattern=NAME, examples=["provider.folder.updated"])
    context: dict[str, Any] = Field(
        default_factory=dict,
        description="What templates see as `event`.",
        examples=[{"provider_id": JOB, "folder_path": "/invoices"}],
    )
    correlation_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Its jobs carry it on; null: the header X-Correlation-ID, or the request's id.",
    )
    tenant_id: UUID | None = Field(
        default=None, description="Whose it is; null: one's own, or the default tenant.", examples=[TENANT]
    )


class Delivery(Model):
    """What came of an event at one trigger."""

    trigger_id: UUID = Field(examples=[TRIGGER])
    label: str = Field(description="The trigger's.", examples=["Resync on folder change"])
    outcome: Outcome = Field(description="`pending`: a worker settles it within seconds.")
    detail: str | None = Field(description="The reason where there is no new job.")
    job_id: UUID | None = Field(description="The job that was made or found.", examples=[JOB])


class PublishedEvent(Model):
    """An event that was published."""

    id: UUID = Field(examples=[ID])
    published_at: datetime
    deliveries: list[Delivery] = Field(description="One for each trigger that it met.")


class Event(Model):
    """An event."""

    id: UUID = Field(examples=[ID])
    tenant_id: UUID = Field(examples=[TENANT])
    name: str = Field(examples=["provider.folder.updated"])
    published_at: datetime
    correlation_id: str
    request_id: str | None
    actor_type: str = Field(examples=["api_key"])
    actor_id: str | None
    context: Any = Field(default=None, description="Null without the permission `payloads.read`.")


class EventDelivery(Delivery):
    """What came of an event at one trigger."""

    event_id: UUID = Field(examples=[ID])
    decided_at: datetime | None

    @classmethod
    def of(cls, view: DeliveryView) -> EventDelivery:
        """From what the database says."""
        return cls(
            event_id=view.event_id,
            trigger_id=view.trigger_id,
            label=view.trigger_label,
            outcome=cast("Outcome", view.outcome),
            detail=view.detail,
            job_id=view.job_id,
            decided_at=view.decided_at,
        )


class NewWebhook(Model):
    """An inbound webhook to be made."""

    label: str = Field(min_length=1, max_length=200, examples=["Dropbox"])
    event_name: str = Field(
        max_length=200,
        pattern=NAME,
        description="The name of the events it publishes.",
        examples=["provider.folder.updated"],
    )
    is_enabled: bool = True
    tenant_id: UUID | None = Field(
        default=None, description="Whose it is; null: one's own, or the default tenant.", examples=[TENANT]
    )


class WebhookChanges(Model):
    """What is to change of a webhook."""

    label: str | None = Field(default=None, min_length=1, max_length=200, examples=["Dropbox"])
    event_name: str | None = Field(default=None, max_length=200, pattern=NAME)
    is_enabled: bool | None = None


class Webhook(Model):
    """An inbound webhook. Its secret is shown once, when it is made or rotated."""

    id: UUID = Field(examples=[ID])
    tenant_id: UUID = Field(examples=[TENANT])
    label: str = Field(examples=["Dropbox"])
    event_name: str = Field(examples=["provider.folder.updated"])
    is_enabled: bool
    created_by: str | None
    created_at: datetime


class WebhookWithSecret(Webhook):
    """A webhook with its new secret."""

    secret: str = Field(
        description="For the sender (Standard Webhooks); it is not shown again.",
        examples=["whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="],
    )


class ReceivedWebhook(Model):
    """A message that was received."""

    event_id: UUID = Field(examples=[ID])
    duplicate: bool = Field(description="It came before; nothing was done again.")
