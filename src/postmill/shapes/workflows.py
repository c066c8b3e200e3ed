"""Workflows and batches in bodies and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import ID as JOB
from postmill.shapes.jobs import TENANT, Key, Priority, Reason
from postmill.shapes.moments import Moment

ID = "0198f3a2-7c11-7abc-8d2e-5a1c9f0b7e43"

Kind = Literal["workflow", "batch"]
Status = Literal["running", "held", "compensating", "succeeded", "failed", "canceled"]
Failure = Literal["cancel", "continue", "hold"]
StepState = Literal[
    "blocked", "held", "scheduled", "queued", "running", "succeeded", "failed", "canceled", "dead_letter"
]
Role = Literal["step", "compensation", "on_success", "on_finish"]
Name = Annotated[str, Field(min_length=1, max_length=200)]

MOST_STEPS = 10_000


class WorkflowJob(Model):
    """A job of a workflow or batch."""

    definition_key: Key = Field(
        description="Key or alias of the job definition.", examples=["recompute-trained-tags"]
    )
    payload: dict[str, Any] = Field(
        default_factory=dict, description="An object that fits the definition's `arg_schema`.", examples=[{}]
    )
    priority: Priority | None = Field(default=None, description="Lower is sooner; null: the definition's.")
    delay_seconds: float | None = Field(
        default=None,
        ge=0,
        le=315_360_000,
        description="Counted from the end of what it waits for.",
        examples=[30],
    )
    scheduled_for: Moment | None = Field(default=None, description="Not before this moment.")


class Parent(Model):
    """A step that another one waits for."""

    step: Name = Field(description="Its name.", examples=["capture"])
    failure: Failure = Field(
        default="cancel",
        description="What its failure means for who waits: cancel, continue, or hold until an operator decides.",
    )


class NewStep(WorkflowJob):
    """A step of a workflow."""

    name: Name = Field(description="Unique in the workflow.", examples=["capture"])
    after: list[Parent] = Field(default_factory=list, max_length=MOST_STEPS, description="What it waits for.")
    compensate: WorkflowJob | None = Field(
        default=None, description="Takes it back, if it succeeded and the workflow fails or is canceled."
    )


class _New(Model):
    name: Name = Field(description="What people call it.", examples=["site preview"])
    key: Annotated[str, Field(min_length=1, max_length=500)] | None = Field(
        default=None, description="While one with this key is live, it is answered in place of a new one."
    )
    fail_fast: bool = Field(default=False, description="The first failure cancels what has not ended.")
    on_success: WorkflowJob | None = Field(default=None, description="Runs when all has succeeded.")
    on_finish: WorkflowJob | None = Field(default=None, description="Runs when all has ended.")
    tenant_id: UUID | None = Field(
        default=None, description="Whose it is; null: one's own, or the default tenant.", examples=[TENANT]
    )
    project_id: UUID | None = Field(default=None, description="A project of that tenant.")
    correlation_id: str | None = Field(
        default=None, min_length=1, max_length=200, description="Its jobs carry it."
    )


class NewWorkflow(_New):
    """Jobs that wait for one another."""

    steps: list[NewStep] = Field(min_length=1, max_length=MOST_STEPS, description="In any order.")


class NewBatch(_New):
    """Jobs that are watched together."""

    jobs: list[WorkflowJob] = Field(default_factory=list, max_length=MOST_STEPS)
    open: bool = Field(default=False, description="More jobs are to come: it ends only once it is sealed.")


class MoreJobs(Model):
    """Jobs for an open batch."""

    jobs: list[WorkflowJob] = Field(min_length=1, max_length=MOST_STEPS)


class StartedWorkflow(Answer):
    """A workflow or batch that was started, or found under its key."""

    id: UUID = Field(examples=[ID])
    created: bool = Field(description="False: it was there under this key.")


class BatchSize(Answer):
    """How many jobs a batch has."""

    total: int = Field(examples=[2000])


class Workflow(Answer):
    """A workflow or batch, and how far it is."""

    id: UUID = Field(examples=[ID])
    tenant_id: UUID = Field(examples=[TENANT])
    kind: Kind
    name: str = Field(examples=["site preview"])
    key: str | None
    status: Status
    verdict: Literal["succeeded", "failed", "canceled"] | None = Field(
        description="How its steps came out, once they are over."
    )
    created_at: datetime
    finished_at: datetime | None
    sealed: bool = Field(description="No more jobs come.")
    fail_fast: bool
    cancel_requested_at: datetime | None
    cancel_reason: str | None
    actor_type: str = Field(examples=["api_key"])
    actor_id: str | None
    total: int = Field(description="Its steps, or jobs.", examples=[3])
    succeeded: int
    failed: int
    canceled: int
    waiting: int = Field(description="Wait for parents.")
    held: int = Field(description="Wait for an operator.")
    active: int = Field(description="Scheduled, queued or running.")
    compensations: int = Field(description="Jobs that take back what had succeeded.")
    compensated: int = Field(description="Those of them that have succeeded.")


class WorkflowNode(Answer):
    """A step as it stands."""

    no: int = Field(examples=[1])
    name: str | None = Field(examples=["capture"])
    role: Role
    definition_key: str = Field(examples=["recompute-trained-tags"])
    job_id: UUID | None = Field(examples=[JOB])
    state: StepState
    waits: int = Field(description="Parents that have not ended.")
    cause: str | None = Field(description="`parent`: canceled since one did not succeed.")
    compensates: int | None = Field(description="The step that it takes back.")
    fanned_from: int | None = Field(description="The step that made it.")
    has_compensation: bool


class WorkflowEdge(Answer):
    """`child` waits for `parent`, by their numbers."""

    parent: int = Field(examples=[1])
    child: int = Field(examples=[2])
    policy: Failure


class WorkflowGraph(Workflow):
    """A workflow with its graph."""

    nodes: list[WorkflowNode]
    edges: list[WorkflowEdge]


class CancelWorkflow(Model):
    """Why a workflow is canceled."""

    reason: Reason = None


class CanceledWorkflow(Answer):
    """A workflow that was canceled."""

    id: UUID = Field(examples=[ID])
    status: Literal["canceled", "finished", "compensating"] = Field(
        description="finished, compensating: its steps were over, and nothing was done."
    )
    jobs: int = Field(description="How many were still to end.")


class RetryWorkflow(Model):
    """How a workflow is retried."""

    confirm: bool = Field(
        default=False, description="Also steps whose definition wants to be asked.", examples=[True]
    )


class RetriedStep(Answer):
    """A step that was asked to run again."""

    name: str | None = Field(examples=["upload"])
    job_id: UUID = Field(examples=[JOB])
    status: str = Field(description="replayed, or why not, as a replay says it.", examples=["replayed"])
    new_id: UUID | None


class RetriedWorkflow(Answer):
    """What was retried."""

    items: list[RetriedStep]


class ReleaseSteps(Model):
    """Which held steps go on."""

    steps: list[Name] | None = Field(
        default=None, max_length=MOST_STEPS, description="Their names; null: all.", examples=[["upload"]]
    )
    reason: Reason = None


class ReleasedSteps(Answer):
    """How many held steps go on."""

    released: int = Field(examples=[1])
