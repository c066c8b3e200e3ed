"""No tenant slows another's work, with a real worker: a hog's 100,000 queued jobs delay a newcomer's first by at most one
batch, weights share as they say, and inside a lane urgent goes before old and old before new."""

from __future__ import annotations

import asyncio
import time
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


class Batches:
    """The most that one claim of this worker may take: the slots, and what it holds in memory beyond them."""

    def __init__(self, worker: Worker) -> None:
        self._queue = worker.queues["default"]
        self.most = 0

    async def watch(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.look()
            await asyncio.sleep(0.005)

    def look(self) -> None:
        self.most = max(self.most, self._queue.slots + self._queue.prefetch)


async def newcomer(conn: Connection[Any], tenant: UUID, batches: Batches) -> int:
    """How many others start between the commit of its enqueue and its own start.

    The enqueue blocks the worker's loop, so that nothing starts while it is under way.
    """
    await batches.watch(0.05)
    conn.execute("select postmill.enqueue('other', tenant => %s)", [tenant])
    return await others_before("other", batches)


async def others_before(name: str, batches: Batches) -> int:
    began = len(started)

    def there() -> bool:
        batches.look()
        return name in started[began:]

    await until(there, PATIENCE)
    return started[began:].index(name)


SLOTS = 10
PATIENCE = 60.0


def usually(delays: list[int]) -> int:
    """What most newcomers waited for at most. Looks for new lanes take at most a twentieth of the worker's time: where the
    machine makes one last long, those who come next are looked for later, and may wait for a second batch."""
    return sorted(delays)[len(delays) // 2]


@pytest.mark.parametrize(
    ("busy_with", "waiting", "rings"),
    [
        pytest.param(hog, 100_000, True, id="quick-rung"),
        pytest.param(hog, 100_000, False, id="quick-nobody rings", marks=pytest.mark.long),
        pytest.param(slow_hog, 20_000, True, id="slow-rung", marks=pytest.mark.long),
        pytest.param(slow_hog, 20_000, False, id="slow-nobody rings"),
    ],
)
async def test_a_hog_delays_a_newcomer_by_one_batch_at_most(
    database: Database, pg: Connection[Any], busy_with: Any, waiting: int, rings: bool
) -> None:
    register(pg, busy_with, other)
    pg.execute("set synchronous_commit = off")
    backlog(pg, busy_with.name, waiting, tenant=HOG)
    async with working(database.dsn, busy_with, other, queues={"default": 10}, notify=rings) as worker:
        batches = Batches(worker)
        await until(lambda: len(started) > 300, PATIENCE)
        known = uuid4()
        delays = [await newcomer(pg, known if n % 2 else uuid4(), batches) for n in range(7)]
        assert len(started) < waiting, "the hog had work all the time"
    assert usually(delays) <= batches.most + 2 * SLOTS, (
        delays
    )  # what is under way in the slots does not count


@pytest.mark.parametrize("flood", [0, 6000], ids=["alone", "before a flood"])
async def test_long_jobs_hide_no_newcomer(database: Database, pg: Connection[Any], flood: int) -> None:
    """All slots are full for longer than a look for news goes back; and after the newcomer the hog enqueues more than
    such a look reads. It is found all the same when a slot is free: with few lanes discoveries cost next to nothing."""

    @job
    async def long() -> None:
        started.append("hog")
        await asyncio.sleep(0.4)

    register(pg, long, other)
    pg.execute("set synchronous_commit = off")
    backlog(pg, "long", 100, tenant=HOG)
    async with working(database.dsn, long, other, queues={"default": 4}, prefetch=0, grace=1.0) as worker:
        batches, delays = Batches(worker), []
        for round in range(1, 8):
            await until(lambda round=round: len(started) >= 4 * round, PATIENCE)
            await batches.watch(0.02)
            pg.execute("select postmill.enqueue('other', tenant => %s)", [uuid4()])
            if flood:
                backlog(pg, "long", flood, tenant=HOG)
            delays.append(await others_before("other", batches))
    assert usually(delays) <= batches.most == 4, delays


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
    backlog(pg, "hog", 30_000)
    async with working(database.dsn, hog, named, queues={"default": 10}) as worker:
        await until(lambda: len(started) > 300, PATIENCE)
        batches, delays = Batches(worker), []
        for n in range(5):
            await batches.watch(0.05)
            pg.execute(
                "select postmill.enqueue('named', %s::jsonb, priority => %s)", [f'{{"who": "{n}"}}', 50 - n]
            )
            delays.append(await others_before(str(n), batches))
    assert usually(delays) <= batches.most + 2 * SLOTS, delays


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
        tried = "select from postmill.attempt where not exists (select from postmill.scheduled)"
        await until(lambda: pg.execute(tried).fetchone() is not None)  # and so it is ready again, or runs
        for n in range(5):
            ask("slow", f"late{n}")
        await until(lambda: len(started) == 47)
    assert started == [
        "retried1",
        *[f"early{n}" for n in range(40)],
        "retried2",
        *[f"late{n}" for n in range(5)],
    ]


async def test_a_newcomer_passes_nobody_of_its_own_lane(database: Database, pg: Connection[Any]) -> None:
    """Tenants by turns, while older jobs of the first still wait in the worker's memory; then ten of a third at once."""

    @job
    async def slow(who: str) -> None:
        started.append(who)
        await asyncio.sleep(0.02)

    register(pg, slow)

    def ask(tenant: int, *whos: str) -> None:
        pg.execute(
            "select postmill.enqueue('slow', jsonb_build_object('who', who), tenant => %s) from unnest(%s::text[]) as who",
            [UUID(int=tenant), list(whos)],
        )

    async def claimed() -> None:
        await until(lambda: pg.execute("select from postmill.ready").fetchone() is None)

    def order_of(letter: str) -> list[str]:
        return [who for who in started if who[0] == letter]

    async with working(database.dsn, slow, queues={"default": 1}):
        ask(1, *[f"a{n}" for n in range(10, 50)])
        await until(lambda: len(started) >= 28)
        for n in range(50, 60):
            ask(2, f"b{n}")
            await claimed()
            ask(1, f"a{n}")
            await claimed()
        await until(lambda: len(started) == 60)
        for round in range(1, 4):
            ask(1, *[f"a{n}" for n in range(50 + 10 * round, 60 + 10 * round)])
            await asyncio.sleep(0.05)
            ask(2 + round, *[f"{'cde'[round - 1]}{n}" for n in range(10, 20)])
        await until(lambda: len(started) == 120)
    assert [order_of(letter) for letter in "abcde"] == [sorted(order_of(letter)) for letter in "abcde"]
