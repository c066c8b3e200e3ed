"""The client for code that awaits."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import httpx

from postmill.http.async_groups import (
    AsyncArchive,
    AsyncArtifacts,
    AsyncAudit,
    AsyncBudgets,
    AsyncCells,
    AsyncDeadLetters,
    AsyncDefinitions,
    AsyncErrors,
    AsyncEvents,
    AsyncHealth,
    AsyncIncidents,
    AsyncJobs,
    AsyncKeys,
    AsyncLimits,
    AsyncOperations,
    AsyncQueues,
    AsyncRetention,
    AsyncTenants,
    AsyncTriggers,
    AsyncWebhooks,
    AsyncWork,
    AsyncWorkers,
    AsyncWorkflows,
)
from postmill.http.awaiting import AsyncGroup, AsyncWire, awaiting
from postmill.http.calls import access, health
from postmill.http.calls import stats as on_stats
from postmill.http.place import find_place


class AsyncApiClient(AsyncGroup):
    """`ApiClient` for code that awaits: `await api.jobs.get(…)`, `async for job in api.jobs.each()`.

    Args and errors as those of `ApiClient`.
    """

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retry_for: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        url, headers = find_place(base_url, key)
        made = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout, transport=transport)
        wire = AsyncWire(made, timeout, retry_for)
        super().__init__(wire)
        self.jobs = AsyncJobs(wire)
        self.workflows = AsyncWorkflows(wire)
        self.dead_letters = AsyncDeadLetters(wire)
        self.operations = AsyncOperations(wire)
        self.errors = AsyncErrors(wire)
        self.definitions = AsyncDefinitions(wire)
        self.triggers = AsyncTriggers(wire)
        self.events = AsyncEvents(wire)
        self.webhooks = AsyncWebhooks(wire)
        self.incidents = AsyncIncidents(wire)
        self.queues = AsyncQueues(wire)
        self.limits = AsyncLimits(wire)
        self.budgets = AsyncBudgets(wire)
        self.workers = AsyncWorkers(wire)
        self.work = AsyncWork(wire)
        self.artifacts = AsyncArtifacts(wire)
        self.tenants = AsyncTenants(wire)
        self.cells = AsyncCells(wire)
        self.keys = AsyncKeys(wire)
        self.audit = AsyncAudit(wire)
        self.retention = AsyncRetention(wire)
        self.archive = AsyncArchive(wire)
        self.health = AsyncHealth(wire)

    stats = awaiting(on_stats.get_stats)
    whoami = awaiting(access.get_session)
    openapi = awaiting(health.get_openapi)

    async def close(self) -> None:
        """Closes the connections."""
        await self._wire.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
