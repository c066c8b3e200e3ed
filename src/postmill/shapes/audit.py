"""What happened, in answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer
from postmill.shapes.paging import Page

Kind = Literal["audit", "job"]
Result = Literal["done", "denied", "refused"]
Via = Literal["api", "console", "cli", "sql", "upkeep"]


class HistoryItem(Answer):
    """Something that happened: an action that was audited, or a step in the life of a job."""

    id: str = Field(
        description="Stable, and unique.", examples=["0198f3a2-7c11-7abc-8def-0123456789ab.000001.2"]
    )
    cursor: str = Field(description="Where a reader goes on after this event.")
    kind: Kind = Field(examples=["job"])
    event: str = Field(examples=["job.succeeded"])
    at: datetime = Field(description="When it happened.")
    recorded_at: datetime = Field(description="When it was recorded: the order of the stream.")
    org_id: UUID | None = Field(description="The tenant; null for what is the platform's.")
    project_id: UUID | None = None
    actor_type: str = Field(examples=["user"])
    actor_id: str | None = Field(examples=["ada"])
    role: str | None = None
    via: str | None = Field(default=None, examples=["api"])
    db_role: str | None = Field(default=None, description="The role that the database knew the session by.")
    request_id: str | None = None
    correlation_id: str | None = None
    target_kind: str | None = None
    target: str | None = None
    result: str | None = Field(default=None, examples=["done"])
    reason: str | None = None
    before: Any = None
    after: Any = None
    job_id: UUID | None = None
    job_type: str | None = None
    attempt: int | None = Field(default=None, description="Which execution, from 1; 0 is the enqueuing.")
    status: str | None = None
    error_class: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None


class History(Page[HistoryItem]):
    """One page of history. It may be short although there is more: `next` decides."""

    resume: str = Field(description="Where to go on when more has happened; never null.")


class LogRow(Answer):
    """A row of the audit log."""

    id: UUID
    at: datetime
    tenant_id: UUID | None
    actor_type: str = Field(examples=["api_key"])
    actor_id: str | None
    role: str | None
    via: str = Field(examples=["api"])
    action: str = Field(examples=["keys.revoke"])
    target_kind: str | None
    target: str | None
    result: Result
    reason: str | None
    request_id: str | None
    before: Any
    after: Any
    db_role: str
    address: str | None = Field(description="Where a request came from, as the server saw it.")
