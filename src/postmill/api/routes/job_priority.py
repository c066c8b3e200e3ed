"""The priority of jobs that wait: of one, or of all that a filter meets."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends

from postmill.api.asked import Asked, may
from postmill.api.paging import cursor_of, parts_of
from postmill.api.problems import Problem, not_found
from postmill.api.routing import new_router
from postmill.bind import adrive, arun
from postmill.domain.access import Action
from postmill.operate import commands
from postmill.shapes.job_priority import Prioritized, PrioritizedJob, SetPriorities, SetPriority
from postmill.store.jobs import NEWEST
from postmill.store.reads import read_jobs

router = new_router("jobs")

May = Annotated[Asked, Depends(may(Action.JOBS_PRIORITY))]

MOST = 1000
"""Jobs of one request by filter: their locks are held until it ends."""

REFUSED = {
    "running": "it runs already",
    "finished": "it has ended",
    "contended": "it is just being claimed or moved; try again",
}


@router.patch("/jobs/{job_id:uuid}/priority")
async def set_priority(job_id: UUID, body: SetPriority, asked: May) -> PrioritizedJob:
    """Give a job that waits another priority; it goes to the end of its new place."""
    (answer,) = await asked.drive(
        commands.prioritize([job_id], body.priority, reason=body.reason, schema=asked.schema)
    )
    if answer.status == "unknown":
        raise not_found("job")
    if answer.status in REFUSED:
        raise Problem(409, f"job-{answer.status}", REFUSED[answer.status])
    return PrioritizedJob(id=job_id, priority=body.priority, changed=answer.status == "changed")


@router.patch("/jobs/priority")
async def set_priorities(body: SetPriorities, asked: May) -> Prioritized:
    """Give all waiting jobs that a filter meets another priority, at most 1,000, the newest first."""
    chosen = body.filter
    async with asked.transaction() as conn:
        page = await arun(
            conn,
            read_jobs(
                status=chosen.status,
                source=chosen.source,
                job_type=chosen.definition_key,
                queue=chosen.queue,
                tenant=chosen.tenant_id,
                before=NEWEST if body.cursor is None else parts_of(body.cursor, UUID)[0],
                created_after=chosen.created_after,
                created_before=chosen.created_before,
                most=MOST,
                schema=asked.schema,
            ),
        )
        answers = await adrive(
            conn,
            commands.prioritize(
                [row.id for row in page.jobs], body.priority, reason=body.reason, schema=asked.schema
            ),
        )
    done = [answer.status for answer in answers]
    changed, unchanged = done.count("changed"), done.count("unchanged")
    return Prioritized(
        changed=changed,
        unchanged=unchanged,
        skipped=len(done) - changed - unchanged,
        next=None if page.before is None else cursor_of(page.before),
    )
