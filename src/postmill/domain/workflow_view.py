"""A workflow as it reads after its start."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

WorkflowStatus = Literal["running", "held", "compensating", "succeeded", "failed", "canceled"]
STATUSES = ("running", "held", "compensating", "succeeded", "failed", "canceled")
KINDS = ("workflow", "batch")
FINISHED = ("succeeded", "failed", "canceled")


@dataclass(frozen=True, slots=True)
class Started:
    """The answer to a start: the workflow's id, and whether this call made it or found it under its key."""

    id: UUID
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowView:
    """A workflow or a batch, and how far it is.

    `status`: running, held (nothing moves before an operator releases, cancels or replays a step), compensating (what had
    succeeded is taken back), or how it ended. `verdict`: how its steps came out, once they are over. Counts are of steps;
    `waiting` wait for parents, `held` for an operator. `sealed`: no more jobs come.
    """

    id: UUID
    tenant_id: UUID
    kind: str
    name: str
    key: str | None
    status: str
    created_at: datetime
    finished_at: datetime | None
    sealed: bool
    fail_fast: bool
    verdict: str | None
    cancel_requested_at: datetime | None
    cancel_reason: str | None
    actor_type: str
    actor_id: str | None
    total: int
    succeeded: int
    failed: int
    canceled: int
    waiting: int
    held: int
    compensations: int
    compensated: int

    @property
    def finished(self) -> bool:
        return self.finished_at is not None

    @property
    def active(self) -> int:
        """Steps that are scheduled, queued or running."""
        return max(0, self.total - self.succeeded - self.failed - self.canceled - self.waiting - self.held)


@dataclass(frozen=True, slots=True)
class StepView:
    """A step as it stands. `no` counts from 1 in the order in which steps came.

    `state`: blocked (waits for parents), held, scheduled, queued, running, succeeded, failed, dead_letter or canceled.
    `waits`: how many parents have not ended. `cause`: `parent` where it was canceled since a parent did not succeed.
    `compensates`, `fanned_from`: numbers of steps.
    """

    no: int
    name: str | None
    role: str
    job_type: str
    job_id: UUID | None
    state: str
    waits: int
    cause: str | None
    compensates: int | None
    fanned_from: int | None
    has_compensation: bool


@dataclass(frozen=True, slots=True)
class EdgeView:
    """`child` waits for `parent`, both by number; `policy`: what a failure of the parent means."""

    parent: int
    child: int
    policy: str


@dataclass(frozen=True, slots=True)
class GraphView:
    """A whole workflow: itself, its steps, and the lines between them."""

    workflow: WorkflowView
    steps: tuple[StepView, ...]
    edges: tuple[EdgeView, ...]
