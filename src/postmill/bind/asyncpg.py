"""asyncpg: `$n` as it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from postmill.bind.runner import Awaiting
from postmill.store.flow import Load
from postmill.store.statement import Rows, Statement


def runner_for(kind: type) -> Awaiting | None:
    """The runner for this kind of connection."""
    return Awaiting(_fetch, _load) if issubclass(kind, asyncpg.Connection | PoolConnectionProxy) else None


async def _fetch(conn: Any, statement: Statement[Any]) -> Rows:
    rows: Rows = await conn.fetch(statement.sql, *statement.args)
    return rows


async def _load(conn: Any, load: Load) -> list[Any]:
    # Outside a transaction each statement would commit by itself: COPY and what follows belong into one.
    async with nullcontext() if conn.is_in_transaction() else conn.transaction():
        source = _chunks(load)
        await conn.copy_to_table(load.table, source=source, columns=load.columns, schema_name=load.schema)
        return [step.decode(await _fetch(conn, step)) for step in load.then]


async def _chunks(load: Load) -> AsyncIterator[bytes]:
    for rows in load.rows:
        yield rows
