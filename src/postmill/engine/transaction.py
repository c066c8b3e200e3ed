"""`ctx.transaction()`: the handler's effect and the job's success in one commit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from typing import Any, Protocol, TypeVar
from uuid import UUID

import psycopg
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from postmill import bind, connections
from postmill.domain.errors import LeaseLost
from postmill.engine.database import conninfo_for, is_outage, name_of
from postmill.engine.fence import Fence
from postmill.engine.result import encode_result
from postmill.store.catalog import sql
from postmill.store.statement import Statement

T = TypeVar("T")


class _Settles(Protocol):
    def settled(self) -> None: ...


class Transaction:
    """An open transaction on psycopg. `result` becomes the job's result."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.cursor = connection.cursor
        self.result: Any = None


class Scope:
    """`async with` in a coroutine, `with` in a function."""

    def __init__(
        self,
        awaited: AbstractAsyncContextManager[Transaction],
        blocking: AbstractContextManager[Transaction],
    ) -> None:
        self._awaited = awaited
        self._blocking = blocking

    async def __aenter__(self) -> Transaction:
        return await self._awaited.__aenter__()

    async def __aexit__(self, *raised: Any) -> bool | None:
        return await self._awaited.__aexit__(*raised)

    def __enter__(self) -> Transaction:
        return self._blocking.__enter__()

    def __exit__(self, *raised: Any) -> bool | None:
        return self._blocking.__exit__(*raised)


class Transactions:
    """The pools behind `ctx.transaction()`, opened at their first use; at most `most` connections of each kind."""

    def __init__(self, dsn: str, schema: str, most: int, *, prepared: bool = True) -> None:
        self._dsn = conninfo_for(dsn)
        self.schema = schema
        self._how: dict[str, Any] = {
            "name": name_of("handler"),
            "prepared": prepared,
            "min_size": 0,
            "max_size": max(1, most),
            "options": {"autocommit": False},
        }
        self._lock = threading.Lock()
        self._pool: AsyncConnectionPool[Any] | None = None
        self._blocking_pool: ConnectionPool[Any] | None = None

    def open(self, fence: Fence, link: _Settles) -> Scope:
        return Scope(self.awaited(fence, link), self.blocking(fence, link))

    @asynccontextmanager
    async def awaited(self, fence: Fence, link: _Settles) -> AsyncIterator[Transaction]:
        pool = await self._opened()
        committing = False
        try:
            async with pool.connection() as connection, connection.transaction():
                transaction = Transaction(connection)
                yield transaction
                statement = self._statement(fence, transaction.result)
                if not await bind.arun(connection, statement):
                    raise LeaseLost(f"job {fence.job_id} is no longer this worker's")
                committing = True
        except (psycopg.Error, OSError) as error:
            # The commit's answer was lost: only a new connection can tell whether it happened.
            if not (committing and is_outage(error) and await self._was_settled(fence)):
                raise
        link.settled()

    @contextmanager
    def blocking(self, fence: Fence, link: _Settles) -> Iterator[Transaction]:
        pool = self._opened_blocking()
        committing = False
        try:
            with pool.connection() as connection, connection.transaction():
                transaction = Transaction(connection)
                yield transaction
                if not bind.run(connection, self._statement(fence, transaction.result)):
                    raise LeaseLost(f"job {fence.job_id} is no longer this worker's")
                committing = True
        except (psycopg.Error, OSError) as error:
            if not (committing and is_outage(error)):
                raise
            with connections.connect(self._dsn, name_of("handler")) as fresh:
                if not bind.run(fresh, self._settled(fence)):
                    raise
        link.settled()

    def scoped(self, tenant: UUID) -> Scope:
        """A transaction in which `postmill.tenant_id` is this tenant; the job is not completed by it."""
        return Scope(self._awaited_for(tenant), self._blocking_for(tenant))

    @asynccontextmanager
    async def _awaited_for(self, tenant: UUID) -> AsyncIterator[Transaction]:
        pool = await self._opened()
        async with pool.connection() as connection, connection.transaction():
            await bind.arun(connection, self._scope(tenant))
            yield Transaction(connection)

    @contextmanager
    def _blocking_for(self, tenant: UUID) -> Iterator[Transaction]:
        with self._opened_blocking().connection() as connection, connection.transaction():
            bind.run(connection, self._scope(tenant))
            yield Transaction(connection)

    def scope(self, connection: Any, tenant: UUID) -> None:
        bind.run(connection, self._scope(tenant))

    async def ascope(self, connection: Any, tenant: UUID) -> None:
        await bind.arun(connection, self._scope(tenant))

    def complete(self, connection: Any, fence: Fence, result: Any) -> None:
        if not bind.run(connection, self._statement(fence, result)):
            raise LeaseLost(f"job {fence.job_id} is no longer this worker's")

    async def acomplete(self, connection: Any, fence: Fence, result: Any) -> None:
        if not await bind.arun(connection, self._statement(fence, result)):
            raise LeaseLost(f"job {fence.job_id} is no longer this worker's")

    def run(self, statement: Statement[T]) -> T:
        """One statement of Postmill's own, committed."""
        with self._opened_blocking().connection() as connection:
            return bind.run(connection, statement)

    async def arun(self, statement: Statement[T]) -> T:
        """As `run`, awaited."""
        pool = await self._opened()
        async with pool.connection() as connection:
            return await bind.arun(connection, statement)

    def _scope(self, tenant: UUID) -> Statement[None]:
        return Statement("scope", sql("report/scope", self.schema), (str(tenant),), lambda rows: None)

    async def _opened(self) -> AsyncConnectionPool[Any]:
        if self._pool is None:
            self._pool = connections.apool(self._dsn, **self._how)
            await self._pool.open()
        return self._pool

    def _opened_blocking(self) -> ConnectionPool[Any]:
        with self._lock:  # several threads may come first
            if self._blocking_pool is None:
                self._blocking_pool = connections.pool(self._dsn, **self._how)
                self._blocking_pool.open()
        return self._blocking_pool

    async def _was_settled(self, fence: Fence) -> bool:
        for _ in range(60):
            try:
                async with await connections.aconnect(self._dsn, name_of("handler")) as fresh:
                    return await bind.arun(fresh, self._settled(fence))
            except (psycopg.Error, OSError):
                await asyncio.sleep(0.5)
        return False

    def _statement(self, fence: Fence, result: Any) -> Statement[bool]:
        encoded = encode_result(result)
        text = None if encoded is None else encoded.decode()
        args = (
            fence.holder, fence.job_id, fence.claim_no, fence.tenant_id, fence.micros(), text, fence.workflow_id,
        )  # fmt: skip
        if fence.fanned:
            fanning = sql("report/complete_fanning", self.schema)
            return Statement("complete_fanning", fanning, (*args, fence.fanned[0]), lambda rows: not rows)
        return Statement(
            "complete_own", sql("report/complete_own", self.schema), args, lambda rows: bool(rows[0][0])
        )

    def _settled(self, fence: Fence) -> Statement[bool]:
        args = (fence.holder, [fence.job_id], [fence.claim_no])
        return Statement("settled", sql("report/settled", self.schema), args, bool)

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.close()
        if self._blocking_pool is not None:
            await asyncio.to_thread(self._blocking_pool.close)
