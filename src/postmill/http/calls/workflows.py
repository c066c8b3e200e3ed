"""Workflows and batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.paging import Page
from postmill.shapes.workflows import (
    BatchSize,
    CanceledWorkflow,
    Kind,
    NewStep,
    ReleasedSteps,
    RetriedWorkflow,
    StartedWorkflow,
    Status,
    Workflow,
    WorkflowGraph,
    WorkflowJob,
)


def start_workflow(
    name: str,
    steps: Sequence[NewStep],
    *,
    key: str | None = None,
    fail_fast: bool = False,
    on_success: WorkflowJob | None = None,
    on_finish: WorkflowJob | None = None,
    tenant_id: Id | None = None,
    project_id: Id | None = None,
    correlation_id: str | None = None,
    traceparent: str | None = None,
    idempotency_key: str | None = None,
) -> Call[StartedWorkflow]:
    """Starts a workflow, once: all its steps, or none of them. While one with `key` is live, that one is answered."""
    body = {
        "name": name,
        "steps": [_plain(step) for step in steps],
        "key": key,
        "fail_fast": fail_fast,
        "on_success": _plain(on_success),
        "on_finish": _plain(on_finish),
        "tenant_id": tenant_id,
        "project_id": project_id,
        "correlation_id": correlation_id,
    }
    headers = {"traceparent": traceparent}
    return write("POST", at("workflows"), model(StartedWorkflow), body, key=idempotency_key, headers=headers)


def start_batch(
    name: str,
    jobs: Sequence[WorkflowJob] = (),
    *,
    open: bool = False,
    key: str | None = None,
    fail_fast: bool = False,
    on_success: WorkflowJob | None = None,
    on_finish: WorkflowJob | None = None,
    tenant_id: Id | None = None,
    project_id: Id | None = None,
    correlation_id: str | None = None,
    traceparent: str | None = None,
    idempotency_key: str | None = None,
) -> Call[StartedWorkflow]:
    """Starts a batch, once, with up to 10,000 jobs; one that is `open` takes more of them until it is sealed."""
    body = {
        "name": name,
        "jobs": [_plain(job) for job in jobs],
        "open": open,
        "key": key,
        "fail_fast": fail_fast,
        "on_success": _plain(on_success),
        "on_finish": _plain(on_finish),
        "tenant_id": tenant_id,
        "project_id": project_id,
        "correlation_id": correlation_id,
    }
    headers = {"traceparent": traceparent}
    return write("POST", at("batches"), model(StartedWorkflow), body, key=idempotency_key, headers=headers)


def add_to_batch(
    batch_id: Id, jobs: Sequence[WorkflowJob], *, idempotency_key: str | None = None
) -> Call[BatchSize]:
    """Adds jobs to an open batch: all of them, or none."""
    body = {"jobs": [_plain(job) for job in jobs]}
    return write("POST", at("batches", batch_id, "jobs"), model(BatchSize), body, key=idempotency_key)


def seal_batch(batch_id: Id, *, idempotency_key: str | None = None) -> Call[Workflow]:
    """Says that no more jobs come: the batch ends when those that it has have ended."""
    return write("POST", at("batches", batch_id, "seal"), model(Workflow), key=idempotency_key)


def list_workflows(
    *,
    kind: Kind | None = None,
    status: Status | None = None,
    name: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Workflow]]:
    """Workflows and batches, the newest first."""
    path = at("workflows")
    return get(path, model(Page[Workflow]), kind=kind, status=status, name=name, limit=limit, cursor=cursor)


def get_workflow(workflow_id: Id, *, graph: bool = True) -> Call[WorkflowGraph]:
    """A workflow with its nodes and edges; without `graph` these are empty."""
    return get(at("workflows", workflow_id), model(WorkflowGraph), graph=graph)


def cancel_workflow(
    workflow_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[CanceledWorkflow]:
    """Cancels the whole: waiting jobs are over, running ones are asked to stop, and nothing of it starts any more."""
    path = at("workflows", workflow_id, "cancel")
    return write("POST", path, model(CanceledWorkflow), {"reason": reason}, key=idempotency_key)


def retry_workflow(
    workflow_id: Id, *, confirm: bool = False, idempotency_key: str | None = None
) -> Call[RetriedWorkflow]:
    """Runs again what did not succeed, and with it what was canceled for its sake."""
    path = at("workflows", workflow_id, "retry")
    return write("POST", path, model(RetriedWorkflow), {"confirm": confirm}, key=idempotency_key)


def release_steps(
    workflow_id: Id,
    steps: Sequence[str] | None = None,
    *,
    reason: str | None = None,
    idempotency_key: str | None = None,
) -> Call[ReleasedSteps]:
    """Lets held steps go on as if what failed had succeeded; None: all of them."""
    body = {"steps": None if steps is None else list(steps), "reason": reason}
    path = at("workflows", workflow_id, "release")
    return write("POST", path, model(ReleasedSteps), body, key=idempotency_key)


def _plain(job: WorkflowJob | None) -> dict[str, Any] | None:
    return None if job is None else job.model_dump(mode="json", exclude_unset=True)
