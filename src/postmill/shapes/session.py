"""Who asks, and how a login is opened."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from postmill.domain.access import Role
from postmill.shapes.base import Answer, Model


class OpenSession(Model):
    """What opens a login."""

    token: str = Field(
        min_length=20, max_length=200, description="The token of a login link, or an API key.",
        examples=["4f7dZ8Fv3m0n4T5l4P9d2o5rXk2Qv8sYb1wU6cJtN3E"],
    )  # fmt: skip


class Session(Answer):
    """Who asks."""

    actor_type: str = Field(examples=["user"])
    actor_id: str = Field(examples=["ada"])
    role: Role = Field(examples=["operator"])
    tenant_id: UUID | None = Field(description="Null: the platform's.")
    may: list[str] = Field(
        description="The actions that the role allows.", examples=[["jobs.read", "jobs.cancel"]]
    )
    expires_at: datetime | None = Field(description="When the login ends; null without one.")
    csrf_token: str | None = Field(
        description="For the header X-CSRF-Token, beside a cookie; null without one."
    )
