"""The client for code that awaits: the same operations as `Client`, from the same flows."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from postmill import bind
from postmill.artifacts.storage import Storage
from postmill.client import flows, publishing, workflow_care, workflow_flows
from postmill.client.address import find_database, find_store, may_prepare
from postmill.client.artifact_flows import Place
from postmill.client.artifacts import AsyncArtifacts, not_blocking
from postmill.client.pools import AsyncPool
from postmill.client.waiting import wait
from postmill.store.catalog import DEFAULT_SCHEMA, checked_schema
from postmill.store.flow import Flow, Pause
from postmill.store.statement import Statement

P = ParamSpec("P")
T = TypeVar("T")
Build = Callable[Concatenate[str, P], Flow[T]]
Method = Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, T]]


def awaiting(build: Build[P, T], *, atomic: bool = False) -> Method[P, T]:
    """A coroutine method that runs what `build` makes, as `blocking` does."""

    @functools.wraps(build)
    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        flow = build(self.schema, *args, **kwargs)
        return await (self._atomically(flow) if atomic else self._stepwise(flow))

    return method


class AsyncClient:
    """`Client` for asyncio. One event loop at a time: another loop gets connections of its own.

    Args and errors as those of `Client`.
    """

    def __init__(
        self,
        conninfo: str | None = None,
        *,
        schema: str = DEFAULT_SCHEMA,
        connections: int = 10,
        prepared_statements: bool | None = None,
    ) -> None:
        self.schema = checked_schema(schema)
        self._dsn = find_database(conninfo)
        self._pool = AsyncPool(
            self._dsn, connections, schema=self.schema, prepared=may_prepare(prepared_statements)
        )

    @functools.cached_property
    def artifacts(self) -> AsyncArtifacts:
        """Files that jobs read or made. Their store is found as the database is: by the setting `artifacts.url`, else what
        `postmill up` left."""
        return AsyncArtifacts(Place(self.schema, Storage(find_store(self._dsn))), not_blocking, self._one)

    enqueue = awaiting(flows.enqueue)
    enqueue_many = awaiting(flows.enqueue_many, atomic=True)
    get = awaiting(flows.get)
    wait = awaiting(wait)
    cancel = awaiting(flows.cancel)
    retry = awaiting(flows.retry)
    replay = awaiting(flows.replay)
    register = awaiting(flows.register)
    publish = awaiting(publishing.publish, atomic=True)
    start_workflow = awaiting(workflow_flows.start_workflow, atomic=True)
    start_batch = awaiting(workflow_flows.start_batch, atomic=True)
    open_batch = awaiting(workflow_flows.open_batch, atomic=True)
    add_to_batch = awaiting(workflow_flows.add_to_batch, atomic=True)
    seal_batch = awaiting(workflow_flows.seal_batch)
    workflow = awaiting(workflow_care.workflow)
    workflow_graph = awaiting(workflow_care.workflow_graph)
    workflows = awaiting(workflow_care.workflows)
    cancel_workflow = awaiting(workflow_care.cancel_workflow)
    retry_workflow = awaiting(workflow_care.retry_workflow)
    release_steps = awaiting(workflow_care.release_steps)

    async def close(self) -> None:
        """Closes the connections; using the client again opens new ones."""
        await self._pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.close()

    async def _one(self, statement: Statement[T]) -> T:
        async with self._pool.connection() as conn:
            return await bind.arun(conn, statement)

    async def _atomically(self, flow: Flow[T]) -> T:
        async with self._pool.connection() as conn, conn.transaction():
            return await bind.adrive(conn, flow)

    async def _stepwise(self, flow: Flow[T]) -> T:
        answer: Any = None
        while True:
            try:
                step = flow.send(answer)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
                answer = None
            else:
                async with self._pool.connection() as conn:
                    answer = await bind.astep(conn, step)
