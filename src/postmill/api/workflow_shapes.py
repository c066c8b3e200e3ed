"""Workflows between the shapes of the API and those of the domain."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from postmill.domain.job import NewJob
from postmill.domain.lane import DEFAULT_TENANT
from postmill.domain.workflow_view import StepView
from postmill.shapes.workflows import NewBatch, NewWorkflow, WorkflowJob, WorkflowNode


def job_of(job: WorkflowJob, tenant: UUID = DEFAULT_TENANT) -> NewJob:
    """A job as it is to be enqueued. Raises PayloadRefused."""
    return NewJob.of(
        job.definition_key,
        job.payload,
        tenant_id=tenant,
        priority=job.priority,
        delay=job.delay_seconds,
        scheduled_for=job.scheduled_for,
    )


def callbacks(body: NewWorkflow | NewBatch, tenant: UUID) -> dict[str, Any]:
    """on_success and on_finish, where there are any."""
    given = {"on_success": body.on_success, "on_finish": body.on_finish}
    return {name: job_of(job, tenant) for name, job in given.items() if job is not None}


def whole(step: StepView) -> WorkflowNode:
    """A step."""
    return WorkflowNode.model_construct(
        no=step.no,
        name=step.name,
        role=step.role,
        definition_key=step.job_type,
        job_id=step.job_id,
        state=step.state,
        waits=step.waits,
        cause=step.cause,
        compensates=step.compensates,
        fanned_from=step.fanned_from,
        has_compensation=step.has_compensation,
    )
