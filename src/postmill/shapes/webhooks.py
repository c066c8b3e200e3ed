"""Webhooks in bodies and answers."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer, Model
from postmill.shapes.events import ID, NAME
from postmill.shapes.triggers import TENANT


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


class Webhook(Answer):
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


class ReceivedWebhook(Answer):
    """A message that was received."""

    event_id: UUID = Field(examples=[ID])
    duplicate: bool = Field(description="It came before; nothing was done again.")
