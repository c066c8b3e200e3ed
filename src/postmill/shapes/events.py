"""Events and deliveries in bodies and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer, Model
from postmill.shapes.triggers import ID as TRIGGER
from postmill.shapes.triggers import JOB, TENANT

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


class Delivery(Answer):
    """What came of an event at one trigger."""

    trigger_id: UUID = Field(examples=[TRIGGER])
    label: str = Field(description="The trigger's.", examples=["Resync on folder change"])
    outcome: Outcome = Field(description="`pending`: a worker settles it within seconds.")
    detail: str | None = Field(description="The reason where there is no new job.")
    job_id: UUID | None = Field(description="The job that was made or found.", examples=[JOB])


class PublishedEvent(Answer):
    """An event that was published."""

    id: UUID = Field(examples=[ID])
    published_at: datetime
    deliveries: list[Delivery] = Field(description="One for each trigger that it met.")


class Event(Answer):
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
