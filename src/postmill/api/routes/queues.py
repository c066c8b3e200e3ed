"""Queues: list, pause, resume."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Depends, Path
from pydantic import Field

from postmill.api.asked import Asked, may
from postmill.api.job_models import Reason
from postmill.api.models import Model
from postmill.api.moments import Moment
from postmill.api.paging import Page
from postmill.api.problems import not_found
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.operate import commands
from postmill.store.queues import read_queues

router = new_router("queues")

Read = Annotated[Asked, Depends(may(Action.QUEUES_READ))]
Write = Annotated[Asked, Depends(may(Action.QUEUES_WRITE))]
Name = Annotated[
    str, Path(min_length=1, max_length=200, description="The queue's name.", examples=["q:mail"])
]


class Queue(Model):
    """A queue. How much of its work is where is null for a tenant; numbers end at 10,000."""

    name: str = Field(examples=["q:mail"])
    priority: int = Field(description="Lower is served first.", examples=[100])
    lane: str = Field(description="Who has fair shares of it.", examples=["tenant"])
    paused: bool = Field(description="Nothing is handed out now.", examples=[False])
    paused_at: datetime | None
    paused_by: str | None
    pause_reason: str | None = Field(examples=["provider is down"])
    resume_at: datetime | None = Field(description="When it opens by itself.")
    queued: int | None = Field(examples=[12])
    scheduled: int | None = Field(examples=[3])
    blocked: int | None = Field(examples=[0])
    running: int | None = Field(examples=[4])
    dead_letters: int | None = Field(examples=[2])
    oldest_seconds: float | None = Field(description="How long its oldest queued job has been ready.")
    next_due_seconds: float | None = Field(description="Until its next scheduled job is due.")


class Pause(Model):
    """How a queue is paused."""

    reason: Reason = None
    resume_at: Moment | None = Field(
        default=None,
        description="When it opens by itself; null: when it is resumed.",
        examples=["2031-01-01T00:00:00Z"],
    )


@router.get("/queues")
async def list_queues(asked: Read) -> Page[Queue]:
    """List all queues, the most urgent first."""
    found = await asked.run(read_queues(schema=asked.schema))
    return Page(items=[Queue.model_validate(row) for row in found], next=None)


@router.get("/queues/{queue:path}")
async def get_queue(queue: Name, asked: Read) -> Queue:
    """Show one queue."""
    return await _queue(asked, queue)


@router.post("/queues/{queue:path}/pause")
async def pause_queue(queue: Name, asked: Write, body: Pause | None = None) -> Queue:
    """Stop handing out jobs of a queue. Running ones and enqueuing go on; it survives restarts."""
    given = body or Pause()
    name = await asked.drive(
        commands.pause(queue, reason=given.reason, resume_at=given.resume_at, schema=asked.schema)
    )
    return await _queue(asked, name)


@router.post("/queues/{queue:path}/resume")
async def resume_queue(queue: Name, asked: Write) -> Queue:
    """Hand out jobs of a queue again."""
    name = await asked.drive(commands.resume(queue, schema=asked.schema))
    return await _queue(asked, name)


async def _queue(asked: Asked, name: str) -> Queue:
    found = await asked.run(read_queues(name, schema=asked.schema))
    if not found:
        raise not_found("queue")
    return Queue.model_validate(found[0])
