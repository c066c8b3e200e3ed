"""`ctx.complete` in a transaction that the handler leaves open: its job waits, no other job does."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from postmill.domain.errors import LeaseLost
from postmill.domain.job_type import job
from postmill.engine.context import Context
from tests.support.databases import Database
from tests.support.workers import enqueue, state, until, working

pytestmark = pytest.mark.matrix

Conn = psycopg.AsyncConnection[Any]


async def succeeded(conn: Conn, *ids: Any) -> None:
    async def all_of_them() -> bool:
        return all([await state(conn, id) == "succeeded" for id in ids])

    await until(all_of_them)


async def test_a_transaction_left_open_delays_no_other_report(database: Database, apg: Conn) -> None:
    left: list[Any] = []
    kept: list[Context] = []

    @job
    async def forgets(ctx: Context) -> None:
        conn = await psycopg.AsyncConnection.connect(database.dsn)
        left.append(conn)
        await ctx.acomplete(conn, {"by": "hand"})

    @job
    def forgets_too(ctx: Context) -> None:
        conn = psycopg.connect(database.dsn)
        left.append(conn)
        ctx.complete(conn)

    @job
    async def commits(ctx: Context) -> str:
        async with await psycopg.AsyncConnection.connect(database.dsn) as conn:
            await ctx.acomplete(conn, "own")
        return "unused"

    @job
    async def plain(ctx: Context) -> str:
        kept.append(ctx)
        return "done"

    async with working(database.dsn, forgets, forgets_too, commits, plain) as worker:
        first, second = await enqueue(apg, "forgets"), await enqueue(apg, "forgets_too")
        await until(lambda: sum(type.succeeded for type in worker.counters.types()) == 2)
        others = [await enqueue(apg, name) for name in ("plain", "commits", "plain")]
        await succeeded(apg, *others)
        assert [await state(apg, id) for id in (first, second)] == ["running"] * 2
        # Who comes back when it has ended may not lock anything any more.
        with pytest.raises(LeaseLost, match="its handler has ended"):
            await kept[0].acomplete(apg)
        # What becomes of it decides: committed, it is what the handler wrote; rolled back, what it returned.
        by_function = next(conn for conn in left if isinstance(conn, psycopg.Connection))
        by_coroutine = next(conn for conn in left if isinstance(conn, psycopg.AsyncConnection))
        await by_coroutine.commit()
        await by_coroutine.close()
        by_function.close()
        await succeeded(apg, first, second)
    cursor = await apg.execute("select result from postmill.outcome where job_id = %s", [first])
    assert await cursor.fetchone() == ({"by": "hand"},)
    cursor = await apg.execute("select count(*) from postmill.outcome")
    assert await cursor.fetchone() == (5,)
