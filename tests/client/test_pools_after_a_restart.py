"""A pool all of whose connections the server has hung up gives live ones, before anybody's patience ends."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from postmill import connections
from tests.support.databases import Database
from tests.support.eventually import eventually

NAME = "hung up"
MANY = 8
"""Dead connections; four were more than psycopg_pool's own check overcame in five seconds."""


def hang_up(pg: psycopg.Connection[Any]) -> None:
    def left() -> int:
        found = pg.execute("select count(*) from pg_stat_activity where application_name = %s", [NAME])
        return int(found.fetchall()[0][0])

    assert left() == MANY
    pg.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = %s", [NAME])
    eventually(lambda: left() == 0)


def options(database: Database) -> dict[str, Any]:
    return {
        "conninfo": database.dsn, "name": NAME, "prepared": True, "min_size": MANY, "max_size": MANY, "timeout": 5.0,
    }  # fmt: skip


def test_blocking(database: Database, pg: psycopg.Connection[Any]) -> None:
    pool: ConnectionPool[Any] = connections.pool(**options(database))
    with pool:
        pool.wait()
        hang_up(pg)
        for _ in range(MANY):
            with pool.connection() as conn:
                assert conn.execute("select 1").fetchall() == [(1,)]


async def test_awaited(database: Database, pg: psycopg.Connection[Any]) -> None:
    pool: AsyncConnectionPool[Any] = connections.apool(**options(database))
    async with pool:
        await pool.wait()
        hang_up(pg)
        for _ in range(MANY):
            async with pool.connection() as conn:
                assert await (await conn.execute("select 1")).fetchall() == [(1,)]
