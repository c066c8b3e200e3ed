"""One connection that heals: runs a statement, and after an outage opens a new connection for the next."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection

from postmill.bind import adrive
from postmill.domain.errors import SchemaMissing, SerializationConflict
from postmill.engine.database import Backoff, connect, is_conflict, is_outage
from postmill.engine.outage import Outage
from postmill.store.catalog import sql
from postmill.store.flow import Flow

T = TypeVar("T")
_NOT_READ_COMMITTED = "PM071"


class Link:
    """A named connection of one worker; used by one coroutine at a time."""

    def __init__(
        self, dsn: str, schema: str, role: str, outage: Outage, *, prepared: bool = True, raw: bool = True
    ) -> None:
        self.schema = schema
        self._dsn = dsn
        self._role = role
        self._outage = outage
        self._prepared = prepared
        self._raw = raw
        self._begins = False  # the sessions that we get are not READ COMMITTED of themselves
        self._connection: AsyncConnection[tuple[Any, ...]] | None = None
        self.backoff = Backoff()

    async def connection(self) -> AsyncConnection[tuple[Any, ...]]:
        if self._connection is None or self._connection.closed:
            self._connection = await connect(self._dsn, self._role, prepared=self._prepared, raw=self._raw)
        return self._connection

    async def committed_rows(self, path: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement that needs READ COMMITTED, and refuses anything else with PM071.

        A pooler's sessions may have another default: from the first refusal on, it runs in a transaction that says what it is.

        Raises:
            psycopg.Error: as `rows` does.
        """
        if not self._begins:
            try:
                return await self.rows(path, args)
            except psycopg.Error as error:
                if error.sqlstate != _NOT_READ_COMMITTED:
                    raise
                self._begins = True
        return await self.rows(path, args, alone=False)

    async def rows(self, path: str, args: Sequence[Any] = (), *, alone: bool = True) -> list[tuple[Any, ...]]:
        """Run `sql/<path>.sql` once. `alone=False`: in a transaction that is begun as READ COMMITTED.

        Raises:
            psycopg.Error: after an outage the connection is dropped, so that the next call opens a new one.
        """
        try:
            connection = await self.connection()
            cursor = connection.cursor(binary=True)
            async with nullcontext() if alone else connection.transaction():
                await cursor.execute(sql(path, self.schema).encode(), args)
                fetched: list[tuple[Any, ...]] = await cursor.fetchall() if cursor.description else []
        except (psycopg.Error, OSError, asyncio.CancelledError) as error:
            if is_outage(error) or isinstance(error, asyncio.CancelledError):
                await self.drop()
            raise
        self._outage.over()
        return fetched

    async def drive(self, flow: Flow[T]) -> T:
        """Run an operation of several statements; only on a connection that is not raw.

        Raises:
            psycopg.Error: as `rows` does.
        """
        try:
            answer = await adrive(await self.connection(), flow)
        except (SerializationConflict, SchemaMissing) as fault:
            raise (
                fault.__cause__ or fault
            ) from None  # what an application is told is not what a loop decides by
        except (psycopg.Error, OSError, asyncio.CancelledError) as error:
            if is_outage(error) or isinstance(error, asyncio.CancelledError):
                await self.drop()
            raise
        self._outage.over()
        return answer

    async def retried(self, path: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a repeatable statement until the database answers; conflicts are retried at once."""
        while True:
            try:
                fetched = await self.rows(path, args)
            except (psycopg.Error, OSError) as error:
                if is_conflict(error):
                    await asyncio.sleep(0.05)
                    continue
                if not is_outage(error):
                    raise
                await self.pause(error)
            else:
                self.backoff.reset()
                return fetched

    async def pause(self, error: BaseException) -> None:
        """Wait out one step of an outage."""
        delay = self.backoff.delay()
        self._outage.seen(error, delay)
        await asyncio.sleep(delay)

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        connection = await self.connection()
        async with connection.transaction():
            yield

    async def drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(connection.close(), 2)

    close = drop

    def sibling(self, role: str) -> Link:
        """Another connection to the same database."""
        return Link(self._dsn, self.schema, role, self._outage, prepared=self._prepared)
