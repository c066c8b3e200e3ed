"""The tags of a job."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends

from postmill.api.asked import Asked, may
from postmill.api.problems import Problem, not_found
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.domain.tags import MOST
from postmill.operate import commands
from postmill.shapes.job_tags import SetTags, TaggedJob

router = new_router("jobs")


@router.patch("/jobs/{job_id:uuid}/tags")
async def set_tags(
    job_id: UUID, body: SetTags, asked: Annotated[Asked, Depends(may(Action.JOBS_TAG))]
) -> TaggedJob:
    """Give a job tags and take others away, whatever state it is in."""
    words = [*body.add, *(f"-{tag}" for tag in body.remove)]
    (answer,) = await asked.drive(commands.tag([job_id], words, reason=body.reason, schema=asked.schema))
    if answer.status == "unknown":
        raise not_found("job")
    if answer.status == "full":
        raise Problem(409, "job-full", f"it would have more than {MOST} tags; take some away")
    return TaggedJob(id=job_id, changed=answer.status == "changed")
