"""Jobs at a glance: how many are where, and why one does not run."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from pydantic import Field

from postmill.api.asked import Asked, may
from postmill.api.job_models import ID, Status
from postmill.api.models import Model
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.domain.lifecycle import State
from postmill.domain.redaction import redacted_text
from postmill.operate.why import why
from postmill.store.reads import read_summary

router = new_router("jobs")

Read = Annotated[Asked, Depends(may(Action.JOBS_READ))]


class Counts(Model):
    """How many jobs are in each state; each number ends at 10,000."""

    scheduled: int = Field(examples=[3])
    queued: int = Field(examples=[12])
    blocked: int = Field(examples=[0])
    running: int = Field(examples=[4])
    succeeded: int = Field(examples=[9120])
    failed: int = Field(examples=[7])
    canceled: int = Field(examples=[1])
    dead_letter: int = Field(examples=[2])


class Summary(Model):
    """Where the jobs are."""

    counts_by_status: Counts
    at_least: list[Status] = Field(
        description="States whose number may be larger than what was counted.", examples=[["succeeded"]]
    )
    oldest_queued_age_seconds: float | None = Field(
        description="How long the oldest queued job has been ready; null: none is queued.", examples=[1.7]
    )
    running_count: int = Field(examples=[4])


class Reason(Model):
    """One thing that holds a job back, or what became of it."""

    code: str = Field(description="Stable name.", examples=["queue_paused"])
    text: str = Field(examples=["queue mail is paused: provider is down"])
    seconds: float | None = Field(description="Until it is over, or since when.", examples=[12.5])
    until: datetime | None = Field(description="When it is over by itself.")


class Why(Model):
    """Why a job does not run."""

    id: UUID = Field(examples=[ID])
    status: Status = Field(examples=["queued"])
    reasons: list[Reason] = Field(description="The first one that holds it back first.")


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
