"""The cold archive in answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import ID

Source = Literal["job", "attempt", "outcome", "dead_letter", "audit_log"]
UnitStatus = Literal["filling", "waiting", "archived", "deleted"]


class ArchiveUnit(Answer):
    """One table's rows of one stretch of time, in the archive or on their way."""

    id: UUID = Field(examples=[ID])
    source: Source = Field(examples=["job"])
    status: UnitStatus = Field(examples=["archived"])
    since: datetime
    until: datetime
    rows: int | None = Field(description="Those of the tenant; of the platform all.", examples=[48213])
    bytes: int | None = Field(description="Of its files; only the platform sees it.", examples=[1048576])
    archived_at: datetime | None
    error: str | None = Field(description="Why it could not be archived yet; only the platform sees it.")


class ArchivedJob(Answer):
    """What the archive has of a job, as rows of their tables."""

    id: UUID = Field(examples=[ID])
    job: dict[str, Any] | None
    attempts: list[dict[str, Any]]
    outcome: dict[str, Any] | None
    dead_letter: dict[str, Any] | None


class ArchiveSwitch(Model):
    """Whether history goes to the archive before it is dropped."""

    required: bool = Field(description="False: what waits for the archive is dropped, too.", examples=[True])
    reason: str | None = Field(
        default=None, min_length=1, max_length=2000, description="Why; for the audit log."
    )


class ArchiveState(Answer):
    """What waits for the archive."""

    required: bool = Field(examples=[True])
    waiting: int = Field(description="Units.", examples=[0])
    oldest_seconds: float | None = Field(description="Since the oldest of them waits.")
    failing: int = Field(description="Of them, those that could not be written.", examples=[0])
    error: str | None = Field(description="Why not, of one of them.")
