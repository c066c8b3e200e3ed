"""The priority of jobs that wait."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import ID, Key, Priority, Reason, Source
from postmill.shapes.moments import Moment
from postmill.shapes.paging import CURSOR


class SetPriority(Model):
    """Another priority."""

    priority: Priority
    reason: Reason = None


class PrioritizedJob(Answer):
    """A job with its priority."""

    id: UUID = Field(examples=[ID])
    priority: int = Field(examples=[10])
    changed: bool = Field(description="False: it had that priority.", examples=[True])


class WaitingJobs(Model):
    """Which of the jobs that wait: those that meet all of this."""

    status: Literal["queued", "scheduled", "blocked"] = Field(examples=["queued"])
    definition_key: Key | None = Field(default=None, examples=["recompute-trained-tags"])
    queue: Key | None = Field(default=None, examples=["default"])
    source: Source | None = Field(default=None, examples=["event"])
    tenant_id: UUID | None = None
    created_after: Moment | None = None
    created_before: Moment | None = Field(default=None, examples=["2026-02-16T10:30:00Z"])


class SetPriorities(SetPriority):
    """Another priority for the jobs that a filter meets."""

    filter: WaitingJobs
    cursor: str | None = Field(
        default=None,
        min_length=1,
        max_length=500,
        pattern=CURSOR,
        description="The `next` of the request before.",
    )


class Prioritized(Answer):
    """What became of them."""

    changed: int = Field(examples=[12])
    unchanged: int = Field(description="They had that priority.", examples=[0])
    skipped: int = Field(description="They were claimed or moved meanwhile.", examples=[0])
    next: str | None = Field(
        description="The `cursor` to go on with: one request takes 1,000 jobs at most. Null: that was all.",
        examples=[None],
    )
