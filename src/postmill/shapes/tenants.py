"""Tenants and projects in bodies and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer, Model
from postmill.shapes.moments import Moment

Status = Literal["active", "throttled", "suspended"]


class TenantChanges(Model):
    """What the platform says of a tenant."""

    name: str | None = Field(default=None, min_length=1, max_length=200, examples=["Ada's bakery"])
    timezone: str | None = Field(default=None, max_length=64, examples=["Europe/Amsterdam"])
    status: Status | None = Field(default=None, examples=["active"])
    weight: int | None = Field(
        default=None, ge=1, le=1000, description="Its share of a queue beside others'.", examples=[1]
    )
    max_running: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="Jobs at once; null is without limit.", examples=[20]
    )
    raised_to: int | None = Field(
        default=None,
        ge=1,
        le=2**31 - 1,
        description="A higher limit than `max_running` for a time; null ends it. With `raised_until`.",
        examples=[60],
    )
    raised_until: Moment | None = Field(
        default=None, description="Until when `raised_to` holds.", examples=["2031-01-01T00:00:00Z"]
    )
    retention_seconds: float | None = Field(
        default=None,
        ge=1,
        le=3_162_240_000,
        description="How long its history is kept; null is the platform's.",
    )
    reason: str | None = Field(default=None, max_length=2000, description="Why; for the audit log.")


class NewTenant(TenantChanges):
    """A tenant to be made."""

    slug: str = Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", examples=["bakery"])


class Tenant(Answer):
    """A tenant."""

    id: UUID
    slug: str = Field(examples=["bakery"])
    name: str = Field(examples=["Ada's bakery"])
    timezone: str = Field(examples=["Europe/Amsterdam"])
    status: Status = Field(examples=["active"])
    weight: int = Field(examples=[1])
    max_running: int | None
    retention_seconds: float | None
    created_at: datetime
    updated_at: datetime
    raised_to: int | None = Field(description="A higher limit that holds now.")
    raised_until: datetime | None


class NewProject(Model):
    """A project to be made."""

    slug: str = Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", examples=["wedding-cakes"])
    name: str | None = Field(default=None, min_length=1, max_length=200, examples=["Wedding cakes"])


class Project(Answer):
    """A project of a tenant."""

    id: UUID
    tenant_id: UUID
    slug: str = Field(examples=["wedding-cakes"])
    name: str = Field(examples=["Wedding cakes"])
    created_at: datetime
