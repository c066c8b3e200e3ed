"""Workflows: start, list, show, cancel, retry, release."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Query, Request, Response

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.routing import location, new_router
from postmill.api.workflow_shapes import callbacks, job_of, whole
from postmill.client import workflow_care as care
from postmill.client.workflow_flows import starting
from postmill.domain import workflow as domain
from postmill.domain.access import Action
from postmill.domain.errors import WorkflowRefused
from postmill.domain.lane import DEFAULT_TENANT
from postmill.domain.workflow_view import GraphView
from postmill.shapes.paging import Page
from postmill.shapes.workflows import (
    CanceledWorkflow,
    CancelWorkflow,
    Kind,
    NewWorkflow,
    ReleasedSteps,
    ReleaseSteps,
    RetriedStep,
    RetriedWorkflow,
    RetryWorkflow,
    StartedWorkflow,
    Status,
    Workflow,
    WorkflowEdge,
    WorkflowGraph,
)
from postmill.store.workflows import door_start_workflow

router = new_router("workflows")

Read = Annotated[Asked, Depends(may(Action.JOBS_READ))]
Enqueue = Annotated[Asked, Depends(may(Action.JOBS_ENQUEUE))]


@router.post(
    "/workflows",
    status_code=201,
    responses={200: {"model": StartedWorkflow, "description": "The live workflow that has this `key`."}},
)
async def start_workflow(
    body: NewWorkflow, request: Request, response: Response, asked: Enqueue
) -> StartedWorkflow:
    """Start a workflow: all its steps, or none of them."""
    tenant = body.tenant_id or asked.principal.tenant_id or DEFAULT_TENANT
    flow = domain.Workflow(
        body.name, key=body.key, tenant=tenant, project=body.project_id, fail_fast=body.fail_fast,
        correlation_id=body.correlation_id or asked.correlation_id, traceparent=asked.traceparent,
        **callbacks(body, tenant),
    )  # fmt: skip
    for step in body.steps:
        undo = None if step.compensate is None else job_of(step.compensate, tenant)
        after = {parent.step: parent.failure for parent in step.after}
        if len(after) < len(step.after):
            raise WorkflowRefused(f"step {step.name!r} waits twice for the same one")
        flow.add(step.name, job_of(step, tenant), after=after, compensate=undo)
    started = await asked.drive(starting(asked.schema, flow, door_start_workflow))
    if not started.created:
        response.status_code = 200
    response.headers["Location"] = location(request, f"/workflows/{started.id}")
    return StartedWorkflow.model_validate(started)


@router.get("/workflows")
async def list_workflows(
    asked: Read,
    kind: Annotated[Kind | None, Query(description="Of this kind.")] = None,
    status: Annotated[Status | None, Query(description="In this state.")] = None,
    name: Annotated[
        str | None, Query(min_length=1, max_length=200, description="Of exactly this name.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Workflow]:
    """List workflows and batches, the newest first."""
    before = None if cursor is None else parts_of(cursor, UUID)[0]
    found = await asked.drive(
        care.workflows(asked.schema, kind=kind, status=status, name=name, before=before, limit=limit)
    )
    items = [Workflow.model_validate(view) for view in found]
    return Page(items=items, next=cursor_of(items[-1].id) if len(items) == limit else None)


@router.get("/workflows/{workflow_id:uuid}")
async def get_workflow(
    workflow_id: UUID,
    asked: Read,
    graph: Annotated[bool, Query(description="False: without nodes and edges.")] = True,
) -> WorkflowGraph:
    """Show a workflow, with its steps as nodes and what waits for what as edges."""
    if graph:
        found = await asked.drive(care.workflow_graph(asked.schema, workflow_id))
    else:
        found = GraphView(await asked.drive(care.workflow(asked.schema, workflow_id)), (), ())
    shown: dict[str, Any] = Workflow.model_validate(found.workflow).model_dump()
    nodes = [whole(step) for step in found.steps]
    edges = [WorkflowEdge.model_validate(edge) for edge in found.edges]
    return WorkflowGraph.model_construct(**shown, nodes=nodes, edges=edges)


@router.post("/workflows/{workflow_id:uuid}/cancel")
async def cancel_workflow(
    workflow_id: UUID,
    asked: Annotated[Asked, Depends(may(Action.JOBS_CANCEL))],
    body: CancelWorkflow | None = None,
) -> CanceledWorkflow:
    """Cancel the whole: waiting jobs are over, running ones are asked to stop, and nothing of it starts any more."""
    reason = None if body is None else body.reason
    done = await asked.drive(care.cancel_workflow(asked.schema, workflow_id, reason=reason))
    return CanceledWorkflow(id=workflow_id, status=done.status, jobs=done.jobs)  # type: ignore[arg-type]


@router.post("/workflows/{workflow_id:uuid}/retry")
async def retry_workflow(
    workflow_id: UUID,
    asked: Annotated[Asked, Depends(may(Action.JOBS_RETRY))],
    body: RetryWorkflow | None = None,
) -> RetriedWorkflow:
    """Run again what did not succeed, and with it what was canceled for its sake."""
    confirm = body is not None and body.confirm
    done = await asked.drive(care.retry_workflow(asked.schema, workflow_id, confirm=confirm))
    items = [
        RetriedStep(name=step.name, job_id=step.id, status=step.status, new_id=step.new_id) for step in done
    ]
    return RetriedWorkflow(items=items)


@router.post("/workflows/{workflow_id:uuid}/release")
async def release_steps(
    workflow_id: UUID,
    asked: Annotated[Asked, Depends(may(Action.JOBS_RETRY))],
    body: ReleaseSteps | None = None,
) -> ReleasedSteps:
    """Let held steps go on as if what failed had succeeded."""
    given = body or ReleaseSteps()
    released = await asked.drive(
        care.release_steps(asked.schema, workflow_id, given.steps, reason=given.reason)
    )
    return ReleasedSteps(released=released)
