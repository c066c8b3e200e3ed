"""psycopg 3, sync and async: `$n` by raw cursors, whatever row and cursor factory the connection has."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import psycopg
from psycopg.adapt import AdaptersMap
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg.types.array import ListBinaryDumper

from postmill.bind.runner import Awaiting, Blocking
from postmill.store.flow import Load
from postmill.store.statement import Rows, Statement


def runner_for(kind: type) -> Blocking | Awaiting | None:
    """The runner for this kind of connection."""
    if issubclass(kind, psycopg.Connection):
        return Blocking(_fetch, _load)
    return Awaiting(_afetch, _aload) if issubclass(kind, psycopg.AsyncConnection) else None


# Rows come binary: as text, a moment under a DateStyle other than ISO is one that psycopg does not read.
def _fetch(conn: psycopg.Connection[Any], statement: Statement[Any]) -> Rows:
    with psycopg.RawCursor(conn, row_factory=tuple_row) as cursor:
        _binary_lists(cursor.adapters, statement)
        return cursor.execute(statement.sql.encode(), statement.args, binary=True).fetchall()


async def _afetch(conn: psycopg.AsyncConnection[Any], statement: Statement[Any]) -> Rows:
    async with psycopg.AsyncRawCursor(conn, row_factory=tuple_row) as cursor:
        _binary_lists(cursor.adapters, statement)
        return await (await cursor.execute(statement.sql.encode(), statement.args, binary=True)).fetchall()


def _binary_lists(adapters: AdaptersMap, statement: Statement[Any]) -> None:
    """Under `array_nulls = off` an array sent as text holds the word NULL in place of none: as a job's key, say."""
    if any(isinstance(arg, list) for arg in statement.args):
        adapters.register_dumper(list, ListBinaryDumper)


def _load(conn: psycopg.Connection[Any], load: Load) -> list[Any]:
    with conn.transaction() if _alone(conn) else nullcontext():
        with psycopg.RawCursor(conn) as cursor, cursor.copy(load.copy.encode()) as copy:
            for rows in load.rows:
                copy.write(rows if conn.info.encoding == "utf-8" else rows.decode())
        return [step.decode(_fetch(conn, step)) for step in load.then]


async def _aload(conn: psycopg.AsyncConnection[Any], load: Load) -> list[Any]:
    async with conn.transaction() if _alone(conn) else nullcontext():
        async with psycopg.AsyncRawCursor(conn) as cursor, cursor.copy(load.copy.encode()) as copy:
            for rows in load.rows:
                await copy.write(rows if conn.info.encoding == "utf-8" else rows.decode())
        return [step.decode(await _afetch(conn, step)) for step in load.then]


def _alone(conn: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    """Whether each statement would commit by itself: COPY and what follows belong into one transaction."""
    return conn.autocommit and conn.info.transaction_status == TransactionStatus.IDLE
