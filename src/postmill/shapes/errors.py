"""Causes of failures."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer
from postmill.shapes.jobs import ID, TENANT

GROUP = "5f2ab8c01d3e4f67"


class ErrorGroup(Answer):
    """Failed attempts that fail alike. With a key of a tenant all numbers are the tenant's own."""

    id: str = Field(description="Its fingerprint.", examples=[GROUP])
    definition_key: str = Field(examples=["recompute-trained-tags"])
    error_class: str = Field(
        description="`other` stands for all further errors of a definition that has too many groups.",
        examples=["TimeoutError"],
    )
    message: str = Field(
        description="With `*` for what differs from job to job.", examples=["no answer from * in * s"]
    )
    frame: str = Field(
        description="The user's own code that it came from; empty if unknown.",
        examples=["photos.tags:recompute"],
    )
    error_code: str | None = Field(description="Of the latest one.", examples=["ETIMEDOUT"])
    error_status: int | None = Field(description="The HTTP status of the latest one.")
    first_seen_at: datetime
    last_seen_at: datetime
    count: int = Field(description="Attempts that failed so.", examples=[45])
    tenants: int = Field(description="How many tenants are affected.", examples=[3])
    sample_job_id: UUID | None = Field(description="One of the latest jobs.", examples=[ID])


class AffectedTenant(Answer):
    """What an error group means to one tenant."""

    tenant_id: UUID = Field(examples=[TENANT])
    slug: str | None
    first_seen_at: datetime
    last_seen_at: datetime
    count: int = Field(examples=[40])
    sample_job_id: UUID | None = Field(examples=[ID])


class WholeErrorGroup(ErrorGroup):
    """An error group with those whom it affects."""

    affected: list[AffectedTenant] = Field(description="The most affected first, at most 20.")
