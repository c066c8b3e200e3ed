"""The holes of the head cursor: a claim begins at the last key it took, so whatever becomes visible behind that key is
found only by a scan from the true head. Late commits, clocks that step back, urgent work before a cursor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from psycopg import Connection

from postmill.domain.job_type import job
from tests.support import sessions
from tests.support.backlog import backlog
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.sessions import DEFAULT_TENANT, WorkerSession
from tests.support.workers import until, working

started: list[str] = []


@job
async def stream() -> None:
    started.append("stream")
    await asyncio.sleep(0.002)


@job
async def late() -> None:
    started.append("late")


@pytest.fixture(autouse=True)
def registered(pg: Connection[Any]) -> None:
    started.clear()
    pg.execute(
        """select * from postmill.register_job_types('[{"key": "stream"}, {"key": "late"}, {"key": "plain"}]')"""
    )
    pg.execute("set synchronous_commit = off")


@asynccontextmanager
async def busy(database: Database, pg: Connection[Any]) -> AsyncIterator[None]:
    """A worker in the midst of one lane with more work than it can do: its cursor moves on and on."""
    backlog(pg, "stream", 30_000)
    async with working(database.dsn, stream, late, queues={"default": 10}):
        await until(lambda: len(started) > 200)
        yield
        assert pg.execute("select from postmill.ready").fetchone() is not None, "it was never empty"
    invariants(pg)


async def test_a_late_commit_is_found(database: Database, pg: Connection[Any]) -> None:
    """It was written before everything that was claimed meanwhile."""
    with database.connect() as caller:
        caller.execute("begin; select postmill.enqueue('late')")
        async with busy(database, pg):
            caller.execute("commit")
            await until(lambda: "late" in started, 20)


async def test_many_late_tickets_are_found_at_once(database: Database, pg: Connection[Any]) -> None:
    """A scan from the head repeats at once while it brings full batches: 2,000 wait for no 2,000 ÷ batch seconds."""
    with database.connect() as caller:
        caller.execute("begin; select postmill.enqueue('late') from generate_series(1, 2000)")
        async with busy(database, pg):
            caller.execute("commit")
            before = started.count("stream")
            await until(lambda: started.count("late") == 2000, 30)
            among = started.count("stream") - before
            # About one second of the stream until the first scan, and then hardly anything else. By a batch a second
            # it would be all 30,000, and more than a minute.
            assert among < 15_000, among


async def test_a_clock_that_steps_back_hides_nothing(database: Database, pg: Connection[Any]) -> None:
    """All new work is stamped before the cursor: an hour of it would otherwise wait for an hour."""
    async with busy(database, pg):
        with database.connect() as behind:
            behind.execute("set postmill.clock_offset = '-1 hour'")
            for n in range(1, 4):
                behind.execute("select postmill.enqueue('late') from generate_series(1, 50)")
                await until(lambda n=n: started.count("late") == 50 * n, 40)


async def test_a_clock_that_steps_back_and_stays_there(database: Database, pg: Connection[Any]) -> None:
    """Nothing else comes any more: what is stamped an hour ago is the only work."""
    async with working(database.dsn, stream, late):
        pg.execute("select postmill.enqueue('stream') from generate_series(1, 100)")
        await until(lambda: len(started) == 100)
        pg.execute("set postmill.clock_offset = '-1 hour'")
        for n in range(1, 4):
            pg.execute("select postmill.enqueue('late')")
            await until(lambda n=n: started.count("late") == n, 40)


async def test_an_urgent_job_before_the_cursor(database: Database, pg: Connection[Any]) -> None:
    async with busy(database, pg):
        for urgency in (99, 50, 1, 0, -5):
            started.clear()
            pg.execute("select postmill.enqueue('late', priority => %s)", [urgency])
            await until(lambda: "late" in started, 20)


# The same holes in single statements, to the letter of the protocol.


def at_cursor(worker: WorkerSession, start: Any, n: int = 10) -> list[Any]:
    held = worker.claim(n, lanes=[("default", DEFAULT_TENANT, 100)], start=start)
    return [line.id for line in held]


def enqueued(conn: Connection[Any], offset: str = "0") -> Any:
    with sessions.shifted(conn, offset):
        return sessions.one(conn, "select postmill.enqueue('plain')")


@pytest.mark.matrix
def test_a_scan_begins_a_little_before_the_clock(pg: Connection[Any]) -> None:
    """At min(cursor, now − 250 ms): a commit that is 100 ms late is found without a scan from the head."""
    worker = WorkerSession(pg)
    enqueued(pg)
    cursor = worker.claim(1)[0].ready_at
    slightly = enqueued(pg, "-100 ms")
    very = enqueued(pg, "-1 s")
    assert at_cursor(worker, cursor) == [slightly]
    assert at_cursor(worker, cursor) == []
    assert at_cursor(worker, None) == [very]


@pytest.mark.matrix
def test_a_cursor_in_the_future_is_not_believed(pg: Connection[Any]) -> None:
    """The clock was an hour ahead, and was put right: the claims that follow begin at the clock."""
    worker = WorkerSession(pg)
    enqueued(pg, "1 hour")
    cursor = worker.claim(1)[0].ready_at
    id = enqueued(pg)
    assert at_cursor(worker, cursor) == [id]


@pytest.mark.matrix
def test_ready_at_is_the_moment_of_becoming_ready(pg: Connection[Any]) -> None:
    """Not the due time, nor the transaction's: each way into `ready` stamps its own moment."""
    moment = "select ready_at >= %s from postmill.ready where id = %s"
    worker = WorkerSession(pg)
    with pg.transaction():
        pg.execute("select pg_sleep(0.05)")
        began = sessions.one(pg, "select clock_timestamp()")
        id = enqueued(pg)
    assert sessions.one(pg, moment, began, id)
    (held,) = worker.claim()
    assert not sessions.put_back(pg, [held], "failed", 0.0)
    began = sessions.one(pg, "select clock_timestamp()")
    assert sessions.promote(pg) == 1
    assert sessions.one(pg, moment, began, id)
    (held,) = worker.claim()
    began = sessions.one(pg, "select clock_timestamp()")
    assert not sessions.put_back(pg, [held], "interrupted", -1.0)
    assert sessions.one(pg, moment, began, id)
    (held,) = worker.claim()
    assert not sessions.put_back(pg, [held], "snoozed", 3600.0)
    began = sessions.one(pg, "select clock_timestamp()")
    pg.execute("select * from postmill.retry_jobs(%s)", [[id]])
    assert sessions.one(pg, moment, began, id)
