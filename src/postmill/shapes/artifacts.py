"""Artifacts in answers."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer
from postmill.shapes.jobs import ID, TENANT


class Artifact(Answer):
    """What is known of an artifact. It never changes: what replaces it has another id."""

    id: UUID = Field(examples=[ID])
    tenant_id: UUID = Field(examples=[TENANT])
    job_id: UUID | None = Field(description="The job that made it; null: a job is to read it.", examples=[ID])
    name: str = Field(examples=["planning.csv"])
    content_type: str = Field(examples=["text/csv"])
    size: int = Field(description="Bytes.", examples=[48213])
    sha256: str = Field(
        description="Checksum, in hexadecimal digits.",
        examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    )
    attempt: int | None = Field(description="The job's attempt that made it.", examples=[1])
    created_at: datetime
    expires_at: datetime = Field(description="It can be read until then.")
    reference: str = Field(
        description="For the payload of a job that is to read it.", examples=[f"artifact:{ID}"]
    )
