"""Incidents in bodies and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from postmill.domain.escalation import IncidentKind, Severity
from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import ID, TENANT, Reason

Status = Literal["open", "acknowledged", "resolved"]


class Incident(Answer):
    """Something that is, or was, wrong. Of one that affects other tenants, too, a tenant sees what is its own."""

    id: UUID = Field(examples=[ID])
    kind: IncidentKind = Field(examples=["job_exhausted"])
    key: str | None = Field(
        description="What it is about: of each kind and key one incident is open. Null where others are affected, too.",
        examples=["recompute-trained-tags:TimeoutError"],
    )
    severity: Severity = Field(examples=["critical"])
    status: Status = Field(examples=["open"])
    title: str = Field(examples=["recompute-trained-tags was given up: TimeoutError"])
    facts: dict[str, Any] = Field(description="More of it, by kind.", examples=[{"attempts": 5}])
    tenant_id: UUID | None = Field(
        description="The one tenant whose it is; null: several, or the platform.", examples=[TENANT]
    )
    queue: str | None = Field(examples=["default"])
    job_type: str | None = Field(examples=["recompute-trained-tags"])
    count: int = Field(description="How often it was raised since opened_at.", examples=[3])
    jobs: int = Field(description="Jobs that are affected.", examples=[3])
    tenants: int = Field(description="Tenants that are affected.", examples=[1])
    opened_at: datetime = Field(description="Since when; of one that came back, since then.")
    last_at: datetime = Field(description="When it was raised last.")
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    resolved_at: datetime | None
    resolved_by: str | None
    note: str | None = Field(description="What somebody said who acknowledged or ended it.")
    reopened: int | None = Field(
        description="How often it came back within ten minutes of its end. Null where others are affected, too.",
        examples=[0],
    )


class Notification(Answer):
    """Whom an incident was, or will be, told."""

    event: Literal["trigger", "acknowledge", "resolve"]
    step: int = Field(description="The step of the escalation policy, from 0.", examples=[0])
    channel: str = Field(examples=["#ops-alerts"])
    instead_of: str | None = Field(description="The channel that it was meant for and that did not work.")
    status: Literal["pending", "sent", "moved", "failed"]
    due_at: datetime | None
    sent_at: datetime | None
    tries: int = Field(examples=[1])
    error: str | None = Field(description="Why the last try failed.")


class WholeIncident(Incident):
    """An incident with whom it was told, and its first hundred jobs."""

    notifications: list[Notification]
    job_ids: list[UUID] = Field(examples=[[ID]])


class ActOnIncident(Model):
    """What somebody has to say who acknowledges or ends an incident."""

    reason: Reason = None
