"""Pauses of job types: their jobs are held back while others of the same queue go on."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path

from postmill.api.asked import Asked, may
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.operate import pausing
from postmill.shapes.paging import Page
from postmill.shapes.queues import Pause, TypePause
from postmill.store.type_pauses import TypePause as Stored

router = new_router("definitions")

PATH = "/admin/jobs/paused-types"

Key = Annotated[
    str,
    Path(
        min_length=1,
        max_length=200,
        description="Key or alias of the definition.",
        examples=["recompute-trained-tags"],
    ),
]
Read = Annotated[Asked, Depends(may(Action.DEFINITIONS_READ))]
Write = Annotated[Asked, Depends(may(Action.QUEUES_WRITE))]


@router.get(PATH)
async def list_paused_types(asked: Read) -> Page[TypePause]:
    """List the job types that are paused now."""
    found = await asked.drive(pausing.paused_types(schema=asked.schema))
    return Page(items=[_shape(one) for one in found], next=None)


@router.put(PATH + "/{definition_key:path}")
async def pause_type(definition_key: Key, asked: Write, body: Pause | None = None) -> TypePause:
    """Hold back the jobs of a type: they do not start, and others of its queue go on. Running ones and enqueuing go on."""
    given = body or Pause()
    name = await asked.drive(
        pausing.pause_type(
            definition_key, reason=given.reason, resume_at=given.resume_at, schema=asked.schema
        )
    )
    found = await asked.drive(pausing.paused_types(schema=asked.schema))
    return next(_shape(one) for one in found if one.job_type == name)


@router.delete(PATH + "/{definition_key:path}", status_code=204)
async def resume_type(definition_key: Key, asked: Write) -> None:
    """Let the jobs of a type run again."""
    await asked.drive(pausing.resume_type(definition_key, schema=asked.schema))


def _shape(one: Stored) -> TypePause:
    return TypePause(
        definition_key=one.job_type,
        paused_at=one.paused_at,
        paused_by=one.paused_by,
        reason=one.reason,
        resume_at=one.resume_at,
    )
