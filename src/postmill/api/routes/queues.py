"""Queues: list, pause, resume."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path

from postmill.api.asked import Asked, may
from postmill.api.problems import not_found
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.operate import commands
from postmill.shapes.paging import Page
from postmill.shapes.queues import Pause, Queue
from postmill.store.queues import read_queues

router = new_router("queues")

Read = Annotated[Asked, Depends(may(Action.QUEUES_READ))]
Write = Annotated[Asked, Depends(may(Action.QUEUES_WRITE))]
Name = Annotated[
    str, Path(min_length=1, max_length=200, description="The queue's name.", examples=["q:mail"])
]


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
