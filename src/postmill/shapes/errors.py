"""Causes of failures."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import ID, TENANT, Reason
from postmill.shapes.moments import Moment

GroupStatus = Literal["new", "ongoing", "regressed", "ignored", "resolved"]

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
    status: GroupStatus = Field(
        description="new: first seen within a day; regressed: it was resolved, and came back. The platform's word on it"
        " (ignored, resolved) is said to all."
    )
    first_version: int | None = Field(
        description="Version of the definition that failed so first; null where unknown, and for a tenant.",
        examples=[42],
    )
    last_version: int | None = Field(
        description="The highest version that failed so; null where unknown, and for a tenant.", examples=[42]
    )
    ignored_until: datetime | None
    resolved_version: int | None = Field(
        description="A failure of this version of the definition, or of a later one, is a relapse.",
        examples=[43],
    )
    resolved_build: str | None = Field(
        description="The build that carries the repair: failures of builds that first ran before it are no relapse; null:"
        " every build counts, and for a tenant.",
        examples=["2026.11.3"],
    )
    resolved_at: datetime | None
    regressed_at: datetime | None
    marked_by: str | None = Field(description="Who said so; null for a tenant.", examples=["ada"])
    mark_note: str | None = Field(description="Why; null for a tenant.", examples=["rolled back"])


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


class IgnoreError(Model):
    """How long nobody needs to look at an error group."""

    until: Moment = Field(examples=["2031-01-01T00:00:00Z"])
    reason: Reason = None


class ResolveError(Model):
    """With what an error group is over."""

    version: int | None = Field(
        default=None,
        ge=1,
        le=2_147_483_647,
        description="Of its definition; null: the present one.",
        examples=[43],
    )
    build: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="The build of the application that carries the repair; null: none is named.",
        examples=["2026.11.3"],
    )
    reason: Reason = None


class ReopenError(Model):
    """Why what was said of an error group is taken back."""

    reason: Reason = None


class NewNote(Model):
    """What is to be written on an error group."""

    text: str = Field(min_length=1, max_length=4000, examples=["the bank confirms: fixed at 03:10"])


class ErrorNote(Answer):
    """What somebody of the platform wrote on an error group."""

    at: datetime
    actor_type: str = Field(examples=["user"])
    actor_id: str | None = Field(examples=["ada"])
    text: str = Field(examples=["the bank confirms: fixed at 03:10"])


class TenantToTell(Answer):
    """A tenant that an error group affects, to be told of it."""

    tenant_id: UUID = Field(examples=[TENANT])
    slug: str | None = Field(examples=["acme"])
    name: str | None = Field(examples=["Acme Inc."])
    first_seen_at: datetime
    last_seen_at: datetime
    count: int = Field(description="Attempts that failed so.", examples=[40])
    dead_letters: int = Field(description="Of those, open now.", examples=[12])
    sample_job_id: UUID | None = Field(examples=[ID])
