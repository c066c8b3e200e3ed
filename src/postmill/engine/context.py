"""What a handler is told about its job, and what it may ask of the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar
from uuid import UUID

from postmill.artifacts.storage import Storage
from postmill.domain.budget_fields import check_budget_name
from postmill.domain.context import HandlerContext
from postmill.domain.job import NewJob
from postmill.domain.resource import Resource
from postmill.domain.signals import Canceled
from postmill.domain.workflow import ParentFailure
from postmill.domain.workflow_told import Parents, Told
from postmill.engine.artifacts import JobArtifacts
from postmill.engine.asking import Asking
from postmill.engine.budgets import Budget
from postmill.engine.fan import Fan
from postmill.engine.fence import Fence
from postmill.engine.resources import Resources
from postmill.engine.transaction import Scope, Transactions
from postmill.store.spending import Spender

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobInfo:
    """The job at hand. `attempt` counts from 1 towards `max_attempts`; `run` counts every execution."""

    id: UUID
    job_type: str
    queue: str
    tenant_id: UUID
    attempt: int
    run: int
    max_attempts: int
    created_at: datetime
    scheduled_for: datetime | None = None
    project_id: UUID | None = None
    actor_type: str = "system"
    actor_id: str | None = None
    request_id: str | None = None
    correlation_id: str | None = None
    traceparent: str | None = None
    idempotency_key: str | None = None


class ContextLink(Protocol):
    """The way from a context back to the engine that runs it, in this process or in the parent of this one."""

    def progress(self, done: float, total: float | None, text: str | None) -> None: ...

    def stopping(self) -> bool: ...

    def log(self, info: JobInfo) -> Any:
        """A structlog logger bound to the job."""

    def settled(self) -> None: ...

    def spent(self, unit: str, amount: float) -> None:
        """So much was booked in a budget."""

    def fanned(self, steps: str) -> None:
        """Steps that the job's success brings, as JSON; in place of what was said before."""

    def completes(self) -> None:
        """The handler is about to complete its job in a transaction of its own, which locks the ticket."""


class Context(HandlerContext):
    """Given to a handler that has a parameter annotated `Context`.

    Attributes:
        job: who and what the job is.
        attempt: number of this attempt, from 1.
        deadline: instant (this machine's clock, UTC) after which the attempt times out; None without a limit.
        log: a structlog logger bound to the job.
        workflow: the workflow or batch that the job belongs to, as it was when the job started; None: it is in none.
    """

    __slots__ = (
        "_fence",
        "_link",
        "_log",
        "_resources",
        "_storage",
        "_transactions",
        "_fan",
        "deadline",
        "job",
        "workflow",
    )

    def __init__(
        self,
        job: JobInfo,
        *,
        fence: Fence,
        link: ContextLink,
        transactions: Transactions,
        resources: Resources,
        storage: Storage,
        deadline: datetime | None = None,
        workflow: Told | None = None,
    ) -> None:
        self.job = job
        self.deadline = deadline
        self._fence = fence
        self._link = link
        self._transactions = transactions
        self._resources = resources
        self._storage = storage
        self._log: Any = None
        self.workflow = workflow
        self._fan: Fan | None = None

    @property
    def attempt(self) -> int:
        return self.job.attempt

    @property
    def log(self) -> Any:
        if self._log is None:
            self._log = self._link.log(self.job)
        return self._log

    @property
    def cancel_requested(self) -> bool:
        """Should the handler stop? True after a cancel request, a timeout, a drain's end or a lost lease."""
        return self._link.stopping()

    def checkpoint(self) -> None:
        """Stop here if the job should stop: raises `Canceled`, which a handler lets pass."""
        if self._link.stopping():
            raise Canceled

    def progress(self, done: float, total: float | None = None, text: str | None = None) -> None:
        """Tell how far the job is. Written at most once a second; the last word counts."""
        self._link.progress(done, total, text)

    def resource(self, resource: Resource[T]) -> T:
        """What a `@resource` has yielded in this process.

        Raises:
            ResourceFailed: it is not open here, since no module that the worker serves holds it.
        """
        return self._resources.get(resource)

    @property
    def artifacts(self) -> JobArtifacts:
        """The files that this job makes, and those of its tenant that it reads."""
        return JobArtifacts(self._fence, self._link, self._transactions, self._storage)

    def budget(self, name: str) -> Budget:
        """A budget that this job spends from: `budget = await ctx.budget("ai-tagging")`, without `await` in a function.

        Raises InvalidValue: budgets have no such names.
        """
        job, fence = self.job, self._fence
        spender = Spender(
            job.id,
            fence.holder,
            fence.claim_no,
            job.tenant_id,
            job.attempt,
            job.job_type,
            job.actor_type,
            job.actor_id,
        )
        return Budget(check_budget_name(name), spender, Asking(self._transactions, self._link.spent))

    @property
    def parents(self) -> Parents:
        """The steps that this one waited for, by name: `ctx.parents["capture"].result`. Empty outside of a workflow."""
        return Parents() if self.workflow is None else self.workflow.parents

    def fan_out(
        self,
        jobs: Iterable[NewJob] | Mapping[str, NewJob],
        *,
        collect: NewJob | None = None,
        collect_name: str | None = None,
        parent_failure: ParentFailure = "cancel",
    ) -> list[str]:
        """Adds steps to the workflow, in the transaction of this job's success: where it does not succeed they never were.

        They run side by side once this job has succeeded, and whoever waits for this step waits for them, too.

        Args:
            jobs: by name, or without: then they are called `step.1`, `step.2` …
            collect: a job that waits for all of them; its `ctx.parents` has their results.
            collect_name: its name; None: `step.collect`.
            parent_failure: what the failure of one of them means for `collect`.

        Returns:
            The names of the new steps.

        Raises:
            WorkflowRefused: this job is no step of a workflow, a name is taken, or there are too many.
        """
        if self._fan is None:
            self._fan = Fan(self.workflow)
        names = self._fan.add(jobs, collect, collect_name, parent_failure)
        text = self._fan.text()
        self._fence.fanned[:] = [text]
        self._link.fanned(text)
        return names

    def transaction(self) -> Scope:
        """A transaction in which completing the job is part of the commit: the effect and the success are one.

        `async with` in a coroutine, `with` in a function; gives a `Transaction` (psycopg's `execute`, `cursor`,
        `connection`) whose `result` may be set. Once it has committed nothing changes the outcome any more.

        Raises:
            LeaseLost: at its end, rolled back: the job is no longer this worker's.
        """
        return self._transactions.open(self._fence, self._link)

    def connection(self) -> Scope:
        """A transaction on a connection of the worker's, scoped to the job's tenant: `postmill.tenant_id` is set in it.

        `async with` in a coroutine, `with` in a function; gives a `Transaction` as `transaction` does. Policies on the
        application's own tables may say `tenant_id = current_setting('postmill.tenant_id')::uuid`. It commits at its end;
        the job is not completed by it.
        """
        return self._transactions.scoped(self.job.tenant_id)

    def scope(self, connection: Any) -> None:
        """Scope the open transaction of a connection of the handler's own to the job's tenant, as `connection` does."""
        self._transactions.scope(connection, self.job.tenant_id)

    async def ascope(self, connection: Any) -> None:
        """As `scope`, on an async connection."""
        await self._transactions.ascope(connection, self.job.tenant_id)

    def complete(self, connection: Any, result: Any = None) -> None:
        """Complete the job in a transaction of the handler's own, on any supported sync connection; then commit.

        Raises:
            LeaseLost: the job is no longer this worker's; roll back.
        """
        self._link.completes()
        self._transactions.complete(connection, self._fence, result)

    async def acomplete(self, connection: Any, result: Any = None) -> None:
        """As `complete`, on an async connection."""
        self._link.completes()
        await self._transactions.acomplete(connection, self._fence, result)
