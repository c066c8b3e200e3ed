"""Jobs in a process of their own, and suspects."""

from __future__ import annotations

import os
from typing import Any

import psycopg
import pytest

from tests.engine import crashers
from tests.engine.test_outcomes import end, one
from tests.support.databases import Database
from tests.support.workers import enqueue, state, until, working


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module: its tests are many and small."""
    return emptied


Conn = psycopg.AsyncConnection[Any]


async def test_it_runs_elsewhere_and_answers(database: Database, apg: Conn) -> None:
    await apg.execute("create table effect (who text)")
    async with working(database.dsn, crashers.whereami, crashers.awaited):
        first = await enqueue(apg, "whereami")
        second = await enqueue(apg, "awaited")
        assert (await end(apg, first, "succeeded"))[3] != os.getpid()
        assert (await end(apg, second, "succeeded"))[3] == "from the child"
    assert await one(apg, "select who from effect") == "child"


async def test_a_killer_dies_alone_and_is_buried(database: Database, apg: Conn) -> None:
    async with working(database.dsn, crashers.killer, crashers.innocent) as worker:
        id = await enqueue(apg, "killer")
        found = await end(apg, id, "dead_letter")
        assert found[:3] == (3, "worker_lost", "ProcessDied")
        assert await one(apg, "select error_message from postmill.dead_letter") is not None
        good = await enqueue(apg, "innocent")
        await end(apg, good, "succeeded")
        assert worker.counters.leases_lost == 0
    rows = await (await apg.execute("select status from postmill.attempt")).fetchall()
    assert rows == [("lost",)] * 3


async def test_a_timeout_ends_the_child(database: Database, apg: Conn) -> None:
    async with working(database.dsn, crashers.sleepy, grace=0.5):
        id = await enqueue(apg, "sleepy")
        assert (await end(apg, id, "dead_letter"))[1] == "max_retries_exceeded"
    assert await one(apg, "select status from postmill.attempt") == "timeout"


async def test_a_suspect_runs_in_a_child(database: Database, apg: Conn) -> None:
    """As left by the second worker that died with it: a running ticket without a lease."""
    async with working(database.dsn, crashers.innocent, lease=2.0):
        await apg.execute("select postmill.pause_queue('default')")
        id = await enqueue(apg, "innocent")
        await apg.execute(
            """with t as (delete from postmill.ready returning *)
               insert into postmill.running (id, holder, claim_no, queue, lane, priority, attempt, run, lost, claimed_at)
               select id, gen_random_uuid(), 1, queue, lane, priority, attempt, 1, 1, postmill.now() from t"""
        )
        await apg.execute("select postmill.resume_queue('default')")
        found = await end(apg, id, "succeeded")
        assert found[0] == 2
        assert found[3] != os.getpid()
    assert await one(apg, "select status from postmill.attempt") == "lost"


async def test_cancel_reaches_a_child(database: Database, apg: Conn) -> None:
    async with working(database.dsn, crashers.sleepy, grace=0.5):
        id = await enqueue(apg, "sleepy")

        async def running() -> bool:
            return await state(apg, id) == "running"

        await until(running)
        await apg.execute("select * from postmill.cancel_jobs(%s)", ([id],))
        await end(apg, id, "canceled")
