"""What HTTP workers ask and are answered."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field, model_validator

from postmill.domain.fence import LENGTH
from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import ID, TENANT
from postmill.shapes.workflows import ID as WORKFLOW
from postmill.shapes.workflows import MOST_STEPS, Failure, Kind, Role, WorkflowJob
from postmill.shapes.workflows import Name as StepName

FENCE = "q1o5Jm3zTUGX0y3n0E3r9wAAAAAAAAAq"

Name = Annotated[str, Field(min_length=1, max_length=200)]
Fence = Annotated[
    str,
    Field(
        min_length=LENGTH,
        max_length=LENGTH,
        pattern="^[A-Za-z0-9_-]+$",
        description="As the claim gave it with the job.",
        examples=[FENCE],
    ),
]
Seconds = Annotated[float, Field(ge=0, le=1e9)]


def _named(field: str) -> dict[str, Any]:
    return {"required": [field], "properties": {field: {"minItems": 1}}}


class ClaimJobs(Model):
    """What a worker can do, and how much of it now."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [_named("queues"), _named("job_types")]})

    worker_id: Name = Field(
        description="The worker's own name, of its process best: it stands in history and in the list of workers.",
        examples=["thumbnails@web-3:4711"],
    )
    queues: list[Name] = Field(
        default_factory=list,
        max_length=100,
        description="Empty: the queues of the job types.",
        examples=[["media"]],
    )
    job_types: list[Name] = Field(
        default_factory=list,
        max_length=100,
        description="Keys of definitions of kind `http`; empty: all of them in the queues.",
        examples=[["make-thumbnail"]],
    )
    max_jobs: int = Field(default=1, ge=1, le=100, description="How many at most.", examples=[4])
    lease_seconds: float = Field(
        default=60.0,
        ge=1,
        le=3600,
        description="A job whose worker is silent for so long is given to another; a heartbeat renews it.",
        examples=[30],
    )
    wait_seconds: float = Field(
        default=0.0, ge=0, le=30, description="How long to wait for the first job.", examples=[25]
    )

    @model_validator(mode="after")
    def _says_what(self) -> ClaimJobs:
        if not self.queues and not self.job_types:
            raise ValueError("name queues, job_types or both")
        return self


class StepOfJob(Answer):
    """The workflow or batch of a job, and which of its steps the job is."""

    id: UUID = Field(examples=[WORKFLOW])
    name: str = Field(examples=["site preview"])
    kind: Kind
    role: Role
    step: str | None = Field(
        description="Null: of a batch, a compensation or a callback.", examples=["compress"]
    )


class ClaimedJob(Answer):
    """A job to be run, once, under this fence."""

    job_id: UUID = Field(examples=[ID])
    job_type: str = Field(examples=["make-thumbnail"])
    queue: str = Field(examples=["media"])
    fence: Fence
    payload: dict[str, Any] = Field(examples=[{"photo_id": 7, "width": 320}])
    attempt: int = Field(description="Counts from 1 towards `max_attempts`.", examples=[1])
    max_attempts: int = Field(examples=[5])
    run: int = Field(description="Counts every execution.", examples=[1])
    lease_expires_at: datetime
    deadline: datetime | None = Field(
        description="After it the next heartbeat ends the attempt as timed out; null: there is none."
    )
    tenant_id: UUID = Field(examples=[TENANT])
    project_id: UUID | None
    created_at: datetime
    scheduled_for: datetime | None
    actor_type: str = Field(examples=["user"])
    actor_id: str | None
    request_id: str | None
    correlation_id: str | None
    traceparent: str | None = Field(description="The trace that the job belongs to (W3C Trace Context).")
    idempotency_key: str | None
    workflow: StepOfJob | None = Field(description="Null: it is in no workflow.")


class ParentOfJob(Answer):
    """A step that a job waited for; of a compensation, the one that it takes back."""

    name: str | None = Field(examples=["capture"])
    job_id: UUID | None = Field(examples=[ID])
    status: Literal["succeeded", "failed", "canceled"]
    result: Any = Field(
        description="What it gave; null also where its history is pruned.", examples=[{"bytes": 48000}]
    )
    fanned_from: str | None = Field(description="The step that made it.")


class JobWorkflow(StepOfJob):
    """The workflow or batch of a job as it is now, and the steps that the job waited for."""

    total: int = Field(description="Its steps, or jobs.", examples=[3])
    succeeded: int
    failed: int
    canceled: int
    verdict: Literal["succeeded", "failed", "canceled"] | None = Field(
        description="How its steps came out, once they are over."
    )
    parents: list[ParentOfJob]

    def results(self) -> dict[str, Any]:
        """The results of the parents that succeeded, by their names."""
        return {one.name: one.result for one in self.parents if one.name and one.status == "succeeded"}


class FannedJob(WorkflowJob):
    """A job that becomes a step."""

    name: StepName | None = Field(
        default=None,
        description="Null: the name of the step that makes it, and a number.",
        examples=["page 1"],
    )


class FanOut(Model):
    """Steps that a step adds to its workflow: they run once it has succeeded, and who waits for it waits for them, too."""

    jobs: list[FannedJob] = Field(max_length=MOST_STEPS, description="They run side by side.")
    collect: FannedJob | None = Field(
        default=None, description="Waits for all of them, and reads their results."
    )
    parent_failure: Failure = Field(
        default="cancel", description="What the failure of one of them means for `collect`."
    )


class ClaimedJobs(Answer):
    """Jobs to be run; none where there was none within the time."""

    jobs: list[ClaimedJob]


class WorkProgress(Model):
    """How far a job is, for people."""

    done: Seconds = Field(examples=[3])
    total: Seconds | None = Field(default=None, examples=[10])
    message: str | None = Field(default=None, max_length=1000, examples=["resizing"])


class Heartbeat(Model):
    """A sign of life of a job's worker."""

    fence: Fence
    progress: WorkProgress | None = None


class RenewedLease(Answer):
    """What became of the lease, and whether to go on."""

    job_id: UUID = Field(examples=[ID])
    lease_expires_at: datetime | None = Field(description="Null: the job is not this worker's any more.")
    deadline: datetime | None
    cancel_requested: bool = Field(description="Somebody wants the job to stop: stop, and call `fail`.")
    cancel_reason: str | None
    timed_out: bool = Field(description="The deadline has passed; the attempt is ended, drop the work.")


class CompleteJob(Model):
    """A success."""

    fence: Fence
    result: Any = Field(default=None, description="Any JSON; kept with the job.", examples=[{"bytes": 18211}])
    fan_out: FanOut | None = Field(
        default=None, description="Steps for the job's workflow, in the same transaction.", examples=[None]
    )


class CompletedJob(Answer):
    """What became of a job that succeeded."""

    job_id: UUID = Field(examples=[ID])
    status: str = Field(examples=["succeeded"])
    attempt: int = Field(examples=[1])
    finished_at: datetime
    steps: list[str] = Field(description="The names of the steps that it fanned out.", examples=[[]])


class JobError(Model):
    """What went wrong, and what is known of it."""

    error_class: Name = Field(
        description="Name of the error's class; retry policies by class fit it.", examples=["UpstreamError"]
    )
    message: str = Field(default="", max_length=100_000, examples=["the camera's server said 503"])
    code: str | None = Field(default=None, max_length=200, examples=["ECONNRESET"])
    status: int | None = Field(default=None, ge=400, le=599, description="An HTTP status.", examples=[503])
    stack: str | None = Field(default=None, max_length=200_000)
    retryable: bool | None = Field(
        default=None,
        description="Whether another attempt makes sense; null leaves it to the rules: no for HTTP statuses 4xx but "
        "408, 425 and 429, yes for all else.",
        examples=[True],
    )
    retry_after: Seconds | None = Field(
        default=None, description="Seconds that somebody asked to wait; at most a day counts.", examples=[30]
    )


class FailJob(Model):
    """A failed attempt."""

    fence: Fence
    error: JobError


class FailedAttempt(Answer):
    """What became of a job whose attempt failed."""

    job_id: UUID = Field(examples=[ID])
    status: str = Field(
        description="scheduled (it will be tried again), dead_letter, failed or canceled.",
        examples=["scheduled"],
    )
    attempt: int = Field(examples=[1])
    reason: str | None = Field(description="Why it was given up or canceled.", examples=[None])
    finished_at: datetime
    retry_at: datetime | None = Field(description="When it is due again, if it was to be tried again.")
