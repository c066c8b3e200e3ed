"""Several workers under one limit: none holds seats in its memory while another has slots free for them."""

from __future__ import annotations

import asyncio
from typing import Any

from psycopg import Connection

from postmill.domain.job_type import job
from postmill.engine.work import QueueSlots
from tests.support.databases import Database
from tests.support.workers import until, working

queues: list[QueueSlots] = []
ended: list[int] = []


@job
async def nap() -> None:
    """Notes how many a worker held beyond its slots when this one began."""
    waiting = max(queue.active + len(queue.waiting) - queue.slots for queue in queues)
    await asyncio.sleep(0.02)
    ended.append(waiting)


def enqueue(pg: Connection[Any], n: int) -> None:
    pg.execute("select count(*) from (select postmill.enqueue('nap') from generate_series(1, %s)) x", (n,))


def limit(pg: Connection[Any], most: int) -> None:
    pg.execute("select postmill.door_set_limit('queue', 'default', '{}', %s, null)", (most,))


async def test_nobody_holds_what_another_could_run(database: Database, pg: Connection[Any]) -> None:
    """A worker that was first looks ahead only as far as a quarter of the limit stays free: one with five times its slots
    does more than it from when it comes. Under a small limit nobody looks ahead at all.
    """
    async with working(database.dsn, nap, queues={"default": 5}) as first:
        queues.append(first.queues["default"])
        limit(pg, 100)
        enqueue(pg, 500)
        await until(lambda: len(ended) >= 50, 60)
        async with working(database.dsn, nap, queues={"default": 25}) as second:
            queues.append(second.queues["default"])
            await until(lambda: second.queues["default"].active > 0, 60)
            before = len(ended)
            await until(lambda: len(ended) == 500, 60)
            by_second = pg.execute(
                "select count(*) from postmill.outcome o join postmill.worker w on w.holder = o.holder"
                " where (w.slots ->> 'default')::integer = 25"
            ).fetchone()
            assert by_second is not None
            assert by_second[0] > (500 - before) / 2, f"of {500 - before} the large one did {by_second[0]}"

            limit(pg, 20)
            enqueue(pg, 60)
            await until(lambda: len(ended) == 560, 60)
            assert max(ended[500:]) <= 0, "some waited in memory under a small limit"
    assert pg.execute("select count(*) from postmill.seat").fetchone() == (0,)
