"""No tenant slows another's work, with a real worker: a hog's 100,000 queued jobs delay a newcomer's first by at most one
batch, weights share as they say, and inside a lane urgent goes before old and old before new."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection

from postmill.domain.job_type import job
from postmill.domain.policy import Constant
from postmill.engine.context import Context
from postmill.engine.worker import Worker
from tests.support.backlog import backlog
from tests.support.databases import Database
from tests.support.workers import until, working

HOG = UUID(int=100)
started: list[str] = []


@pytest.fixture(autouse=True)
def nothing_started() -> None:
    started.clear()


@job
async def hog() -> None:
    started.append("hog")


@job
async def slow_hog() -> None:
    started.append("hog")
    await asyncio.sleep(0.01)


@job
async def other() -> None:
    started.append("other")


@job
async def named(who: str) -> None:
    started.append(who)


def register(conn: Connection[Any], *types: Any) -> None:
    conn.execute(
        "select * from postmill.register_job_types(%s)",
        [
            "["
            + ",".join(f'{{"key": "{type.name}", "lane": "{type.lane or "tenant"}"}}' for type in types)
            + "]"
        ],
    )


def batch_of(worker: Worker) -> int:
    """The most that one claim takes: the slots, and what is held in memory beyond them."""
    queue = worker.queues["default"]
    return queue.slots + queue.prefetch


@pytest.mark.parametrize("rings", [True, False], ids=["rung", "nobody rings"])
@pytest.mark.parametrize("busy_with", [hog, slow_hog], ids=["quick", "slow"])
async def test_a_hog_delays_a_newcomer_by_one_batch_at_most(
    database: Database, pg: Connection[Any], rings: bool, busy_with: Any
) -> None:
    """Counted on the worker's own thread, while which the enqueue blocks it: exactly what starts after the commit."""
    register(pg, busy_with, other)
    pg.execute("set synchronous_commit = off")
    backlog(pg, busy_with.name, 100_000, tenant=HOG)
    async with working(database.dsn, busy_with, other, queues={"default": 10}, notify=rings) as worker:
        await until(lambda: len(started) > 300)
        known = uuid4()
        for n in range(8):
            most = batch_of(worker)
            for _ in range(7):
                await asyncio.sleep(0.01)
                most = max(most, batch_of(worker))
            tenant = known if n % 2 else uuid4()
            pg.execute("select postmill.enqueue('other', tenant => %s)", [tenant])
            began = len(started)
            await until(lambda began=began: "other" in started[began:])  # type: ignore[misc]
            hogs = started[began:].index("other")
            assert hogs <= max(most, batch_of(worker)), f"newcomer {n}: {hogs} jobs of the hog went before"
        assert len(started) < 100_000, "the hog had work all the time"


@pytest.mark.parametrize("seen", [True, False], ids=["a known lane", "a new lane"])
async def test_the_first_claim_of_a_worker_is_fair_too(
    database: Database, pg: Connection[Any], seen: bool
) -> None:
    """A worker that starts beside the backlog serves the one job within its first batch."""
    register(pg, hog, other)
    backlog(pg, "hog", 5_000, tenant=HOG)
    pg.execute("select postmill.enqueue('other', tenant => %s)", [uuid4()])
    async with working(database.dsn, hog, other, queues={"default": 10}):
        await until(lambda: "other" in started)
    assert started.index("other") < 10


async def test_weights_share_a_queue(database: Database, pg: Connection[Any]) -> None:
    """1 : 2 : 5, counted over the first 1,600 of 3 × 3,000; one batch, which the count may cut, is 48 at most."""
    types = []
    for weight in (1, 2, 5):

        @job(f"w{weight}")
        async def weighed(ctx: Context) -> None:
            started.append(ctx.job.job_type)

        types.append(weighed)
    register(pg, *types)
    for weight in (1, 2, 5):
        pg.execute(
            "insert into postmill.lane (queue, lane, weight) values ('default', %s, %s)",
            [UUID(int=weight), weight],
        )
        backlog(pg, f"w{weight}", 3_000, tenant=UUID(int=weight))
    async with working(database.dsn, *types, queues={"default": 16}, prefetch=32):
        await until(lambda: len(started) >= 1_600)
    shares = Counter(started[:1_600])
    for weight in (1, 2, 5):
        assert shares[f"w{weight}"] == pytest.approx(200 * weight, rel=0.15), shares


async def test_a_lane_of_none_is_one_strict_order(database: Database, pg: Connection[Any]) -> None:
    """Whoever was first goes first, whichever tenant it is; only priority goes before."""

    @job(lane="none")
    async def strict(who: str) -> None:
        started.append(who)

    register(pg, strict)
    for n in range(300):
        pg.execute(
            "select postmill.enqueue('strict', jsonb_build_object('who', %s::text), tenant => %s, priority => %s)",
            [str(n), UUID(int=n % 7 + 1), 5 if n == 299 else 100],
        )
    async with working(database.dsn, strict, queues={"default": 1}, prefetch=0):
        await until(lambda: len(started) == 300)
    assert started == ["299", *map(str, range(299))]


async def test_a_key_of_the_payload_is_a_lane(database: Database, pg: Connection[Any]) -> None:
    """Customers of one tenant share as tenants do."""

    @job(lane="payload.customer")
    async def mail(customer: str) -> None:
        started.append(customer)

    register(pg, mail)
    for customer, n in (("big", 500), ("small", 1)):
        pg.execute(
            "select postmill.enqueue('mail', jsonb_build_object('customer', %s::text)) from generate_series(1, %s)",
            [customer, n],
        )
    async with working(database.dsn, mail, queues={"default": 10}):
        await until(lambda: len(started) == 501)
    assert started.index("small") < 10


async def test_inside_a_lane_urgent_goes_before_old(database: Database, pg: Connection[Any]) -> None:
    register(pg, hog, named)
    backlog(pg, "hog", 20_000)
    async with working(database.dsn, hog, named, queues={"default": 10}) as worker:
        await until(lambda: len(started) > 300)
        for n in range(5):
            await asyncio.sleep(0.05)
            most = batch_of(worker)
            pg.execute(
                "select postmill.enqueue('named', %s::jsonb, priority => %s)", [f'{{"who": "{n}"}}', 50 - n]
            )
            began = len(started)
            await until(lambda n=n: str(n) in started)  # type: ignore[misc]
            assert started.index(str(n)) - began <= max(most, batch_of(worker))


async def test_inside_a_priority_first_ready_goes_first(database: Database, pg: Connection[Any]) -> None:
    """Also what is tried again: it became ready when its delay was over, and that is its place (case 55)."""

    @job(retry=Constant(0.3), max_attempts=2)
    async def twice(ctx: Context, who: str) -> None:
        started.append(f"{who}{ctx.attempt}")
        if who == "retried" and ctx.attempt == 1:
            raise ValueError("once more")

    @job
    async def slow(who: str) -> None:
        started.append(who)
        await asyncio.sleep(0.02)

    register(pg, twice, slow)

    def ask(type: str, who: str) -> None:
        pg.execute("select postmill.enqueue(%s, jsonb_build_object('who', %s::text))", [type, who])

    async with working(database.dsn, twice, slow, queues={"default": 1}, prefetch=0):
        ask("twice", "retried")
        for n in range(40):
            ask("slow", f"early{n}")
        await until(lambda: pg.execute("select from postmill.ready where attempt = 2").fetchone() is not None)
        for n in range(5):
            ask("slow", f"late{n}")
        await until(lambda: len(started) == 47)
    assert started == [
        "retried1",
        *[f"early{n}" for n in range(40)],
        "retried2",
        *[f"late{n}" for n in range(5)],
    ]
