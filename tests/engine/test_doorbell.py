"""No wake-up is lost: with a poll interval of a minute, every job must still start at once."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

import psycopg
import pytest

from postmill.domain.job_type import job
from postmill.engine.worker import Worker
from tests.support.databases import Database
from tests.support.workers import enqueue, until, working


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module: its tests are many and small."""
    return emptied


Conn = psycopg.AsyncConnection[Any]


async def test_jobs_at_every_moment_of_falling_asleep_start_at_once(database: Database, apg: Conn) -> None:
    started: list[float] = []

    @job
    async def ring() -> None:
        started.append(time.monotonic())

    async with working(database.dsn, ring, poll_interval=60.0) as worker:
        slow = []
        for n in range(120):
            await asyncio.sleep(random.uniform(0.0, 0.12))
            sent = time.monotonic()
            await enqueue(apg, "ring")
            await until(lambda n=n: len(started) > n)
            if started[-1] - sent > 1.0:
                slow.append(round(started[-1] - sent, 2))
        assert slow == []
        assert worker.counters.notifications


async def test_a_transaction_that_looked_too_early_is_waited_for(database: Database, apg: Conn) -> None:
    """It enqueues before the sleeper row is there, and commits long after the worker has lain down."""
    started: list[float] = []

    @job
    async def ring() -> None:
        started.append(time.monotonic())

    async with working(database.dsn, ring, poll_interval=60.0):
        async with await database.aconnect() as early, early.transaction():
            await enqueue(early, "ring")
            await _sleeper(apg)
            await asyncio.sleep(0.5)  # past the point where the writers are looked up one by one
            committed = time.monotonic()
        await until(lambda: started)
        assert started[0] - committed < 1.0


async def test_a_sleeping_worker_is_rung_through_every_door(database: Database, apg: Conn) -> None:
    """Enqueue, promote, retry, resume: whatever makes work runnable rings."""
    done: list[str] = []

    @job
    async def ring(who: str) -> None:
        done.append(who)

    async with working(database.dsn, ring, poll_interval=60.0):
        await _sleeper(apg)
        later = await enqueue(apg, "ring", '{"who": "retried"}', delay="1 hour")
        await apg.execute("select * from postmill.retry_jobs(%s)", ([later],))
        await until(lambda: "retried" in done)
        await _sleeper(apg)
        await enqueue(apg, "ring", '{"who": "promoted"}', delay="0.3 s")
        await until(lambda: "promoted" in done)
        await _sleeper(apg)
        await apg.execute("select postmill.pause_queue('default')")
        await enqueue(apg, "ring", '{"who": "resumed"}')
        await asyncio.sleep(0.3)
        assert "resumed" not in done
        await apg.execute("select postmill.resume_queue('default')")
        await until(lambda: "resumed" in done)


async def test_a_busy_worker_is_not_notified(database: Database, apg: Conn) -> None:
    @job
    async def nap() -> None:
        await asyncio.sleep(0.002)

    async with working(database.dsn, nap, queues={"default": 5}) as worker:
        await apg.execute("select postmill.enqueue('nap') from generate_series(1, 2000)")
        await until(lambda: worker.counters.claims > 3)
        before = dict(worker.counters.notifications)
        for _ in range(50):
            await enqueue(apg, "nap")
        assert worker.counters.notifications == before
        await until(lambda: worker.counters.of("nap", "default").succeeded == 2050)


async def test_of_a_fleet_only_the_watchman_is_rung(database: Database, apg: Conn) -> None:
    done: list[int] = []

    @job
    async def ring() -> None:
        done.append(1)

    async with (
        working(database.dsn, ring, poll_interval=60.0) as one,
        working(database.dsn, ring, poll_interval=60.0) as two,
        working(database.dsn, ring, poll_interval=60.0) as three,
    ):
        await until(lambda: _sleepers(apg, 3))
        fleet = (one, two, three)
        await until(lambda: all(asleep(worker) for worker in fleet))
        before = [worker.counters.wakeups for worker in fleet]
        cursor = await apg.execute("select count(*) from postmill.sleeper where watch")
        watchmen = await cursor.fetchone()
        await enqueue(apg, "ring")
        await until(lambda: done)
        await asyncio.sleep(0.2)
        woken = [worker.counters.wakeups > n for worker, n in zip(fleet, before, strict=True)]
        assert watchmen is not None
        assert 1 <= sum(woken) <= watchmen[0] < 3


async def test_a_full_watchman_rings_a_reserve(database: Database, apg: Conn) -> None:
    """Two slots in two workers: the second long job must not wait for the first."""
    holding = asyncio.Event()
    running: list[int] = []

    @job
    async def hold() -> None:
        running.append(1)
        await holding.wait()

    async with (
        working(database.dsn, hold, queues={"default": 1}, poll_interval=60.0),
        working(database.dsn, hold, queues={"default": 1}, poll_interval=60.0),
    ):
        await until(lambda: _sleepers(apg, 2))
        await enqueue(apg, "hold")
        await enqueue(apg, "hold")
        await until(lambda: len(running) == 2, 40)
        holding.set()


def asleep(worker: Worker) -> bool:
    """Has it had its last look?"""
    assert worker._shop is not None
    return all(bed.lying and not bed.owed for bed in worker._shop.doorbell.beds.values())


async def _sleeper(conn: Conn) -> None:
    await until(lambda: _sleepers(conn, 1))


async def _sleepers(conn: Conn, n: int) -> bool:
    cursor = await conn.execute("select count(*) from postmill.sleeper")
    row = await cursor.fetchone()
    return row is not None and row[0] >= n
