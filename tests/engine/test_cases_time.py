"""Cases 27, 29 and 33: no time limit means none; what is not due is in nobody's hands; time does not stand still in a long
transaction."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection

from postmill.domain.errors import DefinitionError, PayloadRefused
from postmill.domain.job_type import job
from postmill.engine.context import Context
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import JobStarted
from tests.engine.test_outcomes import end, one
from tests.support import sessions
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.workers import enqueue, until, working


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module: its tests are many and small."""
    return emptied


Conn = psycopg.AsyncConnection[Any]
LEASE = 1.5


async def test_only_a_limit_that_was_passed_interrupts(
    database: Database, pg: Connection[Any], apg: Conn
) -> None:
    """Case 27: all sleep for four leases under a live worker, which renews; nobody rescues them."""
    starts: list[str] = []

    @job(timeout=None, max_attempts=1)
    async def no_limit() -> None:
        starts.append("no_limit")
        await asyncio.sleep(4 * LEASE)

    @job(timeout=10 * 86400, max_attempts=1)
    async def ten_days() -> None:
        starts.append("ten_days")
        await asyncio.sleep(4 * LEASE)

    @job(timeout=None, max_attempts=1)
    def no_limit_thread() -> None:
        starts.append("no_limit_thread")
        time.sleep(4 * LEASE)

    @job(timeout=0.5, max_attempts=1)
    async def half() -> None:
        starts.append("half")
        await asyncio.sleep(4 * LEASE)

    types = (no_limit, ten_days, no_limit_thread, half)
    async with working(database.dsn, *types, lease=LEASE), working(database.dsn, *types, lease=LEASE):
        ids = {type.name: await enqueue(apg, type.name) for type in types}
        assert (await end(apg, ids["half"], "dead_letter"))[2] == "postmill.domain.errors.TimedOut"
        for name in ("no_limit", "ten_days", "no_limit_thread"):
            await end(apg, ids[name], "succeeded")
    assert sorted(starts) == ["half", "no_limit", "no_limit_thread", "ten_days"]
    took = "select extract(epoch from finished_at - started_at)::float8 from postmill.attempt where status = 'timeout'"
    assert 0.5 <= await one(apg, took) < 4 * LEASE
    invariants(pg, lease_seconds=LEASE)


@pytest.mark.parametrize("limit", [0, -1, 0.0, -0.5])
def test_a_limit_of_nothing_is_refused(pg: Connection[Any], limit: float) -> None:
    """Neither is a sentinel for `no limit`: None is."""

    @job
    async def fine() -> None: ...

    with pytest.raises(DefinitionError, match="timeout"):

        @job(timeout=limit)
        async def wrong() -> None: ...

    with pytest.raises(PayloadRefused, match="timeout"):
        fine.using(timeout=limit)
    types = json.dumps([{"key": "wrong", "timeout_seconds": limit}])
    with pytest.raises(psycopg.errors.CheckViolation):
        pg.execute("select * from postmill.register_job_types(%s)", [types])


async def test_what_is_not_due_is_in_nobodys_hands(database: Database, pg: Connection[Any]) -> None:
    """Case 29: a thousand jobs for later, while workers come and go; then each runs once, and none too early."""
    runs: Counter[UUID] = Counter()

    @job
    async def later(ctx: Context) -> None:
        runs[ctx.job.id] += 1

    pg.execute("""select * from postmill.register_job_types('[{"key": "later"}]')""")
    pg.execute("select postmill.enqueue('later', delay => '3 seconds') from generate_series(1, 1000)")
    due = "select min(run_at) - interval '100 ms' < postmill.now() from postmill.scheduled"
    early = "select (select count(*) from postmill.ready) + (select count(*) from postmill.running)"
    while not sessions.one(pg, due):
        async with working(database.dsn, later, lease=LEASE, grace=0.1) as worker:
            for _ in range(20):
                found = sessions.one(pg, early)
                if sessions.one(pg, due):
                    break
                assert found == 0
                await asyncio.sleep(0.01)
            worker.abort()
    async with working(database.dsn, later, lease=LEASE):
        await until(lambda: len(runs) == 1000, 20)
    assert set(runs.values()) == {1}
    too_early = """select count(*) from postmill.outcome o join postmill.job j on j.id = o.job_id
                    where o.started_at < j.scheduled_for"""
    assert sessions.one(pg, too_early) == 0
    invariants(pg, lease_seconds=LEASE)


async def test_time_goes_on_inside_a_long_transaction(
    database: Database, pg: Connection[Any], apg: Conn
) -> None:
    """Case 33: what is enqueued at its end is neither late nor due before its delay counted from the call."""

    @job
    async def now() -> None: ...

    @job
    async def later() -> None: ...

    bus, waited = Bus(), dict[str, float | None]()
    bus.subscribe(lambda event: waited.update({event.job.job_type: event.waited}), JobStarted)
    async with working(database.dsn, now, later, bus=bus):
        with database.connect() as caller, caller.transaction():
            await asyncio.to_thread(caller.execute, "select pg_sleep(1.5)")
            called = sessions.one(caller, "select clock_timestamp()")
            first = sessions.one(caller, "select postmill.enqueue('now')")
            second = sessions.one(caller, "select postmill.enqueue('later', delay => '1 second')")
            many = "select id from postmill.enqueue_many('{later}', '{\"{}\"}', p_delays => '{1 second}')"
            third = sessions.one(caller, many)
            moments = caller.execute(
                "select created_at, scheduled_for from postmill.job order by id"
            ).fetchall()
        assert all(created >= called for created, _ in moments)
        for id in (first, second, third):
            await end(apg, id, "succeeded")
        for id in (second, third):
            began = sessions.one(pg, "select started_at from postmill.outcome where job_id = %s", id)
            assert 1.0 <= (began - called).total_seconds() < 4
    assert waited["now"] is not None
    assert waited["now"] < 1.0
