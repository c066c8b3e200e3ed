"""Makes the context of a job that runs in this process, and the order for one that runs in a child."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from postmill.artifacts.storage import Storage
from postmill.domain.errors import LeaseLost, NotFound
from postmill.domain.workflow_told import Told, told
from postmill.engine.artifacts import JobArtifacts
from postmill.engine.child_spec import ChildSpec
from postmill.engine.completer import Completer
from postmill.engine.config import WorkerConfig
from postmill.engine.context import Context, JobInfo
from postmill.engine.fence import Fence
from postmill.engine.logged import log_fields
from postmill.engine.raw import micros
from postmill.engine.resources import Resources
from postmill.engine.transaction import Transactions
from postmill.engine.work import (
    ACTOR_ID,
    ACTOR_TYPE,
    ATTEMPT,
    CORRELATION_ID,
    CREATED_AT,
    KEY,
    MAX_ATTEMPTS,
    PROJECT,
    REQUEST_ID,
    RUN,
    SCHEDULED_FOR,
    TENANT,
    TIMEOUT,
    TRACEPARENT,
    WORKFLOW,
    Work,
)
from postmill.store.workflows import step_context
from postmill.telemetry.job_log import job_log

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


class WorkLink:
    """The context's way back to the work it belongs to."""

    __slots__ = ("_completer", "_work")

    def __init__(self, work: Work, completer: Completer) -> None:
        self._work = work
        self._completer = completer

    def progress(self, done: float, total: float | None, text: str | None) -> None:
        self._completer.progress(self._work, done, total, text)

    def stopping(self) -> bool:
        return self._work.stopping

    def log(self, info: JobInfo) -> Any:
        return job_log(info, self._completer.counters.worker_id, log_fields(self._work))

    def settled(self) -> None:
        self._work.settled = True

    def spent(self, unit: str, amount: float) -> None:
        if self._work.handler is not None:
            self._completer.counters.spend(self._work.handler.type.name, unit, amount)

    def fanned(self, steps: str) -> None:
        self._work.fanned = steps

    def completes(self) -> None:
        if self._work.ended:
            raise LeaseLost(f"job {UUID(bytes=self._work.id)} cannot be completed: its handler has ended")
        self._work.completes = True


class Contexts:
    def __init__(
        self,
        dsn: str,
        schema: str,
        completer: Completer,
        transactions: Transactions,
        resources: Resources,
        storage: Storage,
        config: WorkerConfig,
    ) -> None:
        self._dsn = dsn
        self._schema = schema
        self._completer = completer
        self._transactions = transactions
        self._resources = resources
        self._storage = storage
        self._config = config

    def make(self, work: Work) -> Context:
        timeout = work.row[TIMEOUT]
        return Context(
            info_of(work),
            fence=self.fence(work),
            link=WorkLink(work, self._completer),
            transactions=self._transactions,
            resources=self._resources,
            storage=self._storage,
            deadline=datetime.now(UTC) + timedelta(seconds=timeout) if timeout is not None else None,
            workflow=work.told,
        )

    async def of_workflow(self, work: Work) -> Told:
        """What a step is told of its workflow. Raises NotFound: it is gone."""
        workflow, job = UUID(bytes=work.row[WORKFLOW]), UUID(bytes=work.id)
        text = await self._transactions.arun(step_context(workflow, job, schema=self._schema))
        if text is None:
            raise NotFound(f"workflow {workflow} knows nothing of job {job}")
        return told(json.loads(text))

    async def within_budget(self, work: Work) -> None:
        """Raises BudgetDeferred, BudgetExhausted, UnknownBudget: the budget of the job's type lets nothing run."""
        assert work.handler is not None
        assert work.handler.budget is not None
        await self.make(work).budget(work.handler.budget).acheck()

    def artifacts(self, work: Work) -> JobArtifacts:
        """Those of a job that has no context: a command."""
        return JobArtifacts(
            self.fence(work), WorkLink(work, self._completer), self._transactions, self._storage
        )

    def fence(self, work: Work) -> Fence:
        """What a report of this job must match."""
        session = self._completer.session
        assert session is not None
        flow = work.row[WORKFLOW]
        return Fence(
            UUID(bytes=work.id), session.holder, work.claim_no, UUID(bytes=work.row[TENANT]), work.started,
            UUID(bytes=flow) if flow is not None else None,
        )  # fmt: skip

    def spec(self, work: Work, payload: bytes) -> ChildSpec:
        """The order for a child process."""
        assert work.handler is not None
        fence = self.fence(work)
        return ChildSpec(
            modules=self._config.modules or (work.handler.fn.__module__,),
            job_type=work.handler.type.name,
            payload=payload,
            context=_plain(info_of(work))
            | {
                "holder": str(fence.holder),
                "claim_no": work.claim_no,
                "timeout": work.row[TIMEOUT],
                "worker_id": self._completer.counters.worker_id,
                "workflow": None if work.told is None else work.told.plain(),
            },
            conninfo=self._dsn,
            schema=self._schema,
            prepared=self._config.prepared,
            memory_limit=self._config.memory_limit,
            artifacts=self._storage.settings.clear(),
        )


def info_of(work: Work) -> JobInfo:
    row = work.row
    assert work.handler is not None
    return JobInfo(
        id=UUID(bytes=row[0]),
        job_type=work.handler.type.name,
        queue=work.queue.name,
        tenant_id=UUID(bytes=row[TENANT]),
        attempt=row[ATTEMPT],
        run=row[RUN],
        max_attempts=row[MAX_ATTEMPTS],
        created_at=_instant(row[CREATED_AT]),
        scheduled_for=_instant(row[SCHEDULED_FOR]) if row[SCHEDULED_FOR] else None,
        project_id=UUID(bytes=row[PROJECT]) if row[PROJECT] else None,
        actor_type=row[ACTOR_TYPE],
        actor_id=row[ACTOR_ID],
        request_id=row[REQUEST_ID],
        correlation_id=row[CORRELATION_ID],
        traceparent=row[TRACEPARENT],
        idempotency_key=row[KEY],
    )


def _plain(info: JobInfo) -> dict[str, Any]:
    """The same as JSON can carry it."""
    values = {name: getattr(info, name) for name in info.__slots__}
    return {
        name: value.isoformat()
        if isinstance(value, datetime)
        else str(value)
        if isinstance(value, UUID)
        else value
        for name, value in values.items()
    }


def _instant(raw: bytes) -> datetime:
    return _EPOCH + timedelta(microseconds=micros(raw))
