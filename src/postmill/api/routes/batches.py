"""Batches: start, add, seal. They are shown, listed and canceled as workflows."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request, Response

from postmill.api.asked import Asked, may
from postmill.api.problems import not_found
from postmill.api.routing import location, new_router
from postmill.api.workflow_shapes import callbacks, job_of
from postmill.client import workflow_care as care
from postmill.client.workflow_flows import adding, starting_batch
from postmill.domain.access import Action
from postmill.domain.batch import Batch
from postmill.domain.lane import DEFAULT_TENANT
from postmill.shapes.workflows import BatchSize, MoreJobs, NewBatch, StartedWorkflow, Workflow
from postmill.store.workflows import door_add_jobs, door_seal_batch, door_start_workflow

router = new_router("workflows")

Enqueue = Annotated[Asked, Depends(may(Action.JOBS_ENQUEUE))]


@router.post(
    "/batches",
    status_code=201,
    responses={200: {"model": StartedWorkflow, "description": "The live batch that has this `key`."}},
)
async def start_batch(
    body: NewBatch, request: Request, response: Response, asked: Enqueue
) -> StartedWorkflow:
    """Start a batch, with up to 10,000 jobs; more are added while it is open."""
    tenant = body.tenant_id or asked.principal.tenant_id or DEFAULT_TENANT
    batch = Batch(
        body.name, key=body.key, tenant=tenant, project=body.project_id, fail_fast=body.fail_fast,
        correlation_id=body.correlation_id or asked.correlation_id, traceparent=asked.traceparent,
        **callbacks(body, tenant),
    )  # fmt: skip
    jobs = [job_of(job, tenant) for job in body.jobs]
    flow = starting_batch(asked.schema, batch, jobs, sealed=not body.open, send=door_start_workflow)
    started = await asked.drive(flow)
    if not started.created:
        response.status_code = 200
    response.headers["Location"] = location(request, f"/workflows/{started.id}")
    return StartedWorkflow.model_validate(started)


@router.post("/batches/{batch_id:uuid}/jobs", status_code=201)
async def add_to_batch(batch_id: UUID, body: MoreJobs, asked: Enqueue) -> BatchSize:
    """Add jobs to an open batch: all of them, or none."""
    view = await asked.drive(care.workflow(asked.schema, batch_id))
    jobs = [job_of(job, view.tenant_id) for job in body.jobs]
    return BatchSize(total=await asked.drive(adding(asked.schema, batch_id, jobs, door_add_jobs)))


@router.post("/batches/{batch_id:uuid}/seal")
async def seal_batch(batch_id: UUID, asked: Enqueue) -> Workflow:
    """Say that no more jobs come: the batch ends when those that it has have ended."""
    if await asked.run(door_seal_batch(batch_id, schema=asked.schema)) == "unknown":
        raise not_found("batch")
    return Workflow.model_validate(await asked.drive(care.workflow(asked.schema, batch_id)))
