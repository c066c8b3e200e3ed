"""API keys and logins in bodies and answers."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from postmill.domain.access import Role
from postmill.shapes.base import Answer, Model
from postmill.shapes.moments import Moment


class NewKey(Model):
    """A key to be made."""

    name: str = Field(
        min_length=1, max_length=200, description="What it is for.", examples=["nightly import"]
    )
    role: Role = Field(description="Not above one's own.", examples=["operator"])
    tenant: str | None = Field(
        default=None, max_length=63, description="Slug or id; within a tenant one's own.", examples=["bakery"]
    )
    expires_at: Moment | None = Field(
        default=None, description="When it stops; null is never.", examples=["2031-01-01T00:00:00Z"]
    )


class Key(Answer):
    """An API key, without its secret."""

    id: UUID
    prefix: str = Field(description="How it begins.", examples=["pm_4f7dZ8"])
    name: str = Field(examples=["nightly import"])
    tenant_id: UUID | None
    role: Role = Field(examples=["operator"])
    created_at: datetime
    created_by: str | None = None
    expires_at: datetime | None = None
    last_used_at: datetime | None = Field(default=None, description="To the minute.")
    revoked_at: datetime | None = None
    revoked_by: str | None = None


class MadeKey(Key):
    """A key that was just made."""

    key: str = Field(
        description="The secret. It is never shown again.",
        examples=["pm_4f7dZ8Fv3m0n4T5l4P9d2o5rXk2Qv8sYb1wU6cJtN3E"],
    )


class Login(Answer):
    """A login of the console that holds."""

    id: UUID
    actor_id: str = Field(examples=["ada"])
    tenant_id: UUID | None
    role: Role = Field(examples=["operator"])
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime


class Ended(Answer):
    """What became of it."""

    id: UUID
    status: str = Field(examples=["revoked"])
