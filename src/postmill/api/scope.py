"""A transaction within the scope of who asks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from psycopg import AsyncConnection
from psycopg.raw_cursor import AsyncRawCursor
from psycopg.rows import tuple_row

from postmill.api.backend import Backend
from postmill.api.problems import Problem, unauthorized
from postmill.bind import arun
from postmill.bind.failures import worded
from postmill.domain.access import Principal
from postmill.store.access import begin_request
from postmill.store.statement import Statement

T = TypeVar("T")


@asynccontextmanager
async def begun(
    backend: Backend, principal: Principal, request_id: str
) -> AsyncIterator[AsyncConnection[Any]]:
    """A connection that sees what the principal may see; commits at the end.

    Raises:
        Problem: 401 where the key that was found a moment ago opens no longer.
    """
    async with backend.pool.connection() as conn, conn.transaction():
        if not await arun(conn, begin_request(principal, request_id, schema=backend.schema)):
            raise no_longer(backend)
        yield conn


@asynccontextmanager
async def looking(
    backend: Backend, principal: Principal, request_id: str, first: Statement[T]
) -> AsyncIterator[tuple[AsyncConnection[Any], T]]:
    """As `begun`, for who only reads: nothing is left of it. With what its first statement answers, which goes with the
    beginning in one round trip.

    Raises:
        Problem: 401 where the key that was found a moment ago opens no longer.
    """
    enter = begin_request(principal, request_id, schema=backend.schema)
    async with backend.pool.connection() as conn:
        try:
            with worded(first.name):
                async with conn.pipeline():
                    await conn.execute("begin")
                    entered, found = [AsyncRawCursor(conn, row_factory=tuple_row) for _ in range(2)]
                    await entered.execute(enter.sql.encode(), enter.args, binary=True)
                    await found.execute(first.sql.encode(), first.args, binary=True)
            if not enter.decode(await entered.fetchall()):
                raise no_longer(backend)
            yield conn, first.decode(await found.fetchall())
        finally:
            if not conn.closed:
                await conn.rollback()


def no_longer(backend: Backend) -> Problem:
    """401 for a key that was revoked meanwhile; keys that are remembered are looked up anew."""
    backend.keys.forget()
    return unauthorized("this API key was revoked, is over, or its tenant is suspended")
