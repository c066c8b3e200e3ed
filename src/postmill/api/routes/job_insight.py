"""Jobs at a glance: how many are where, and why one does not run."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query

from postmill.api.asked import Asked, may
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.domain.lifecycle import State
from postmill.domain.redaction import redacted_text
from postmill.operate.why import why
from postmill.shapes.job_insight import Counts, Reason, Summary, Why
from postmill.store.reads import read_summary

router = new_router("jobs")

Read = Annotated[Asked, Depends(may(Action.JOBS_READ))]


@router.get("/jobs/summary")
async def summarize_jobs(
    asked: Read, tenant_id: Annotated[UUID | None, Query(description="Of this tenant.")] = None
) -> Summary:
    """Count jobs by state."""
    found = await asked.run(read_summary(tenant=tenant_id, schema=asked.schema))
    numbers = {count.state: count.n for count in found}
    oldest = next((count.oldest_seconds for count in found if count.state is State.QUEUED), None)
    return Summary(
        counts_by_status=Counts(**{state.value: numbers.get(state, 0) for state in State}),
        at_least=[count.state.value for count in found if count.at_least],
        oldest_queued_age_seconds=oldest if numbers.get(State.QUEUED) else None,
        running_count=numbers.get(State.RUNNING, 0),
    )


@router.get("/jobs/{job_id:uuid}/why")
async def explain_job(job_id: UUID, asked: Read) -> Why:
    """Tell why a job does not run."""
    found = await asked.drive(why(job_id, schema=asked.schema))
    return Why(
        id=found.id,
        status=found.status.value,
        reasons=[
            Reason(code=one.code, text=redacted_text(one.text), seconds=one.seconds, until=one.until)
            for one in found.reasons
        ],
    )
