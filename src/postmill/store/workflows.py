"""Statements on workflows and batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from postmill.domain.lane import DEFAULT_TENANT
from postmill.domain.workflow import Workflow
from postmill.domain.workflow_view import EdgeView, StepView, WorkflowView
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement

_FIELDS = tuple(WorkflowView.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class StartAnswer:
    """created | duplicate (id: the live one with its key) | invalid | may_register (detail: the type) | busy |
    serialization, and what an enqueue says of a step; the detail names it."""

    id: UUID | None
    status: str
    detail: str | None


@dataclass(frozen=True, slots=True)
class Added:
    """created | unknown | finished | canceled | sealed | may_register, and what an enqueue says of a job.

    `total`: how many jobs the batch has.
    """

    status: str
    detail: str | None
    total: int | None


@dataclass(frozen=True, slots=True)
class WorkflowCanceled:
    """canceled: `jobs` were still to end, and nothing of it starts any more. finished, compensating: its steps are over."""

    status: str
    jobs: int


@dataclass(frozen=True, slots=True)
class StepRetried:
    """A step that was asked to run again; status and new id as those of a replay."""

    name: str | None
    id: UUID
    status: str
    new_id: UUID | None


@dataclass(frozen=True, slots=True)
class StepOf:
    """A job's place in its workflow.

    `no`, `step`, `role`, `state`, `waits` are None where the step goes on with another job, since this one was replayed.
    `failed`, `pending`: parents that did not succeed or have not ended, the first ten of each.
    """

    workflow_id: UUID
    workflow: str
    kind: str
    status: str
    no: int | None
    step: str | None
    role: str | None
    state: str | None
    waits: int | None
    failed: list[str]
    pending: list[str]


def start_workflow(flow: Workflow, text: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[StartAnswer]:
    """A workflow or batch, by its JSON."""
    e = flow.envelope
    args = (
        text, flow.tenant_id, flow.project_id, e.get("actor_type", "system"), e.get("actor_id"), e.get("request_id"),
        e.get("correlation_id"), e.get("traceparent"),
    )  # fmt: skip
    return Statement(
        "start_workflow", sql("workflows/start_workflow", schema), args, lambda rows: StartAnswer(*rows[0])
    )


def door_start_workflow(flow: Workflow, text: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[StartAnswer]:
    """The same as who began the request, within its scope. Audited. Also unknown_tenant, unknown_project, suspended."""
    tenant = None if flow.tenant_id == DEFAULT_TENANT else flow.tenant_id
    args = (
        text,
        tenant,
        flow.project_id,
        flow.envelope.get("correlation_id"),
        flow.envelope.get("traceparent"),
    )
    return Statement(
        "door_start_workflow",
        sql("workflows/door_start_workflow", schema),
        args,
        lambda rows: StartAnswer(*rows[0]),
    )


def door_add_jobs(id: UUID, text: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[Added]:
    """More jobs for an open batch. Audited."""
    return Statement(
        "door_add_jobs", sql("workflows/door_add_jobs", schema), (id, text), lambda rows: Added(*rows[0])
    )


def door_seal_batch(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[str]:
    """No more jobs come. Audited."""
    return Statement(
        "door_seal_batch", sql("workflows/door_seal_batch", schema), (id,), lambda rows: str(rows[0][0])
    )


def add_jobs(id: UUID, text: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[Added]:
    """More jobs for an open batch."""
    return Statement("add_jobs", sql("workflows/add_jobs", schema), (id, text), lambda rows: Added(*rows[0]))


def seal_batch(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[str]:
    """No more jobs come: sealed | already | unknown."""
    return Statement("seal_batch", sql("workflows/seal_batch", schema), (id,), lambda rows: str(rows[0][0]))


def cancel_workflow(
    id: UUID,
    *,
    reason: str | None = None,
    actor_type: str | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[WorkflowCanceled]:
    """Cancels the whole. Audited."""
    return Statement(
        "door_cancel_workflow",
        sql("workflows/door_cancel_workflow", schema),
        (id, reason, actor_type, actor_id),
        lambda rows: WorkflowCanceled(*rows[0]),
    )


def retry_workflow(
    id: UUID,
    *,
    confirm: bool = False,
    actor_type: str | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[StepRetried]]:
    """Runs everything again that did not succeed. Audited."""
    return Statement(
        "door_retry_workflow",
        sql("workflows/door_retry_workflow", schema),
        (id, confirm, actor_type, actor_id),
        lambda rows: [StepRetried(*row) for row in rows],
    )


def release_steps(
    id: UUID,
    names: Sequence[str] | None = None,
    *,
    reason: str | None = None,
    actor_type: str | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[int | None]:
    """Lets held steps go on; None: all. How many; None: there is no such workflow. Audited."""
    args = (id, None if names is None else list(names), reason, actor_type, actor_id)
    return Statement(
        "door_release_steps", sql("workflows/door_release_steps", schema), args, lambda rows: rows[0][0]
    )


def read_workflows(
    most: int,
    *,
    before: UUID | None = None,
    kind: str | None = None,
    status: str | None = None,
    name: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[WorkflowView]]:
    """Newest first."""
    return Statement(
        "read_workflows", sql("workflows/read_workflows", schema), (most, before, kind, status, name), _views
    )


def read_workflow(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[WorkflowView | None]:
    """One, or None."""
    return Statement(
        "read_workflow",
        sql("workflows/read_workflow", schema),
        (id,),
        lambda rows: next(iter(_views(rows)), None),
    )


def read_steps(
    id: UUID, *, after: int = 0, most: int = 1000, schema: str = DEFAULT_SCHEMA
) -> Statement[list[StepView]]:
    """Steps with numbers above `after`."""
    return Statement(
        "read_workflow_steps",
        sql("workflows/read_workflow_steps", schema),
        (id, after, most),
        lambda rows: [StepView(*row) for row in rows],
    )


def read_edges(
    id: UUID, *, after: tuple[int, int] = (0, 0), most: int = 10_000, schema: str = DEFAULT_SCHEMA
) -> Statement[list[EdgeView]]:
    """Lines between steps behind the line `after`."""
    return Statement(
        "read_workflow_edges",
        sql("workflows/read_workflow_edges", schema),
        (id, *after, most),
        lambda rows: [EdgeView(*row) for row in rows],
    )


def read_step_of(job: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[StepOf | None]:
    """The workflow that a job belongs to, and its step; None: it is in none."""
    return Statement(
        "read_step_of",
        sql("workflows/read_step_of", schema),
        (job,),
        lambda rows: StepOf(*rows[0]) if rows else None,
    )


def step_context(workflow: UUID, job: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[str | None]:
    """What the handler of a step is told, as JSON."""
    return Statement(
        "step_context", sql("workflows/step_context", schema), (workflow, job), lambda rows: rows[0][0]
    )


def _views(rows: Rows) -> list[WorkflowView]:
    made: list[WorkflowView] = []
    for row in rows:
        values: dict[str, Any] = dict(zip(_FIELDS, row, strict=True))
        made.append(WorkflowView(**values))
    return made
