"""Limits over the whole fleet: never more than allowed, never stuck below, and nobody waits behind who must wait."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any
from uuid import UUID

from psycopg import Connection

from postmill.domain.job_type import job
from postmill.domain.limit import Limit
from postmill.engine.context import Context
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.workers import until, working

BIG, SMALL = UUID(int=100), UUID(int=200)


class Watched:
    """How many run at once, now and at most, by what the test tells apart."""

    def __init__(self) -> None:
        self.now: Counter[Any] = Counter()
        self.most: Counter[Any] = Counter()
        self.ended: Counter[Any] = Counter()
        self.gate = asyncio.Event()

    async def run(self, key: Any, seconds: float = 0.0) -> None:
        self.now[key] += 1
        self.most[key] = max(self.most[key], self.now[key])
        try:
            await asyncio.sleep(seconds)
        finally:
            self.now[key] -= 1
            self.ended[key] += 1


watched = Watched()


@job(limits=[Limit(max_running=3)])
async def shoot() -> None:
    await watched.run("shoot", 0.005)


@job(limits=[Limit(max_running=1, per="payload.customer"), Limit(max_running=4)])
async def sync(customer: str) -> None:
    await watched.run(customer, 0.002)


@job
async def plain(ctx: Context) -> None:
    await watched.run(("plain", ctx.job.tenant_id), 0.002)


async def test_three_at_once_over_three_workers(database: Database, pg: Connection[Any]) -> None:
    async with (
        working(database.dsn, shoot, sync, plain),
        working(database.dsn, shoot, sync, plain),
        working(database.dsn, shoot, sync, plain),
    ):
        pg.execute("select postmill.enqueue('shoot') from generate_series(1, 200)")
        pg.execute(
            "select postmill.enqueue('sync', jsonb_build_object('customer', 'c' || n % 20)) from generate_series(1, 200) n"
        )
        pg.execute("select postmill.enqueue('plain') from generate_series(1, 50)")
        await until(lambda: watched.ended.total() == 450)
        assert watched.most["shoot"] == 3
        assert {watched.most[f"c{n}"] for n in range(20)} == {1}
    invariants(pg)
