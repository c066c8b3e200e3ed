"""The helpers by themselves, on every kind of connection that matters to them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from threading import Thread
from uuid import UUID

import psycopg
import pytest

from postmill import AsyncClient, Client, NewJob, Snooze, aenqueue, bind, enqueue, enqueue_many
from postmill.domain.errors import ResourceFailed, WaitTimeout
from postmill.store.queues import pause_queue
from postmill.testing import (
    FrozenClock,
    aassert_enqueued,
    aassert_not_enqueued,
    adrain,
    aenqueued,
    aperform,
    assert_enqueued,
    assert_not_enqueued,
    drain,
    enqueued,
    inline,
    perform,
)
from postmill.testing.performing import NotInTests
from tests.support.databases import Database
from tests.testing.jobs import greet, greeting, later, shaky, spread

NUMBER = UUID(int=7)


def test_what_was_enqueued_is_found_before_the_commit(database: Database) -> None:
    with psycopg.connect(database.dsn) as conn:
        assert_not_enqueued(conn)
        enqueue(conn, greet.new(who="ann", number=NUMBER))
        enqueue(conn, greet.using(delay=60).new(who="bob"))
        enqueue(conn, spread.new(n=1))
        assert assert_enqueued(conn, greet, {"who": "ann", "number": NUMBER}).queue == "mail"
        assert assert_enqueued(conn, greet, count=2).payload["who"] == "bob"
        assert_enqueued(conn, "spread", {"n": 1}, queue="default")
        assert [view.job_type for view in enqueued(conn)] == ["greet", "greet", "spread"]
        assert_not_enqueued(conn, greet, {"who": "eve"})
        assert_not_enqueued(conn, greet, queue="default")
        with pytest.raises(AssertionError, match=r"1 job 'greet', found 2; enqueued are:\n  greet \{"):
            assert_enqueued(conn, greet, count=1)
        with pytest.raises(AssertionError, match=r"a job 'greet' with \{'who': 'eve'\}, found 0") as missed:
            assert_enqueued(conn, greet, {"who": "eve"})
        assert '"who": "bob"' in str(missed.value)
        with pytest.raises(AssertionError, match=r"expected no such job, found:\s+spread"):
            assert_not_enqueued(conn, spread)
        conn.rollback()
        assert_not_enqueued(conn)
        with pytest.raises(AssertionError, match="nothing"):
            assert_enqueued(conn, greet)


async def test_the_same_for_those_who_await(database: Database) -> None:
    async with await psycopg.AsyncConnection.connect(database.dsn) as conn:
        await aassert_not_enqueued(conn)
        await aenqueue(conn, greet.new(who="ann"))
        assert (await aassert_enqueued(conn, greet, {"who": "ann"}, count=1)).payload["who"] == "ann"
        assert len(await aenqueued(conn)) == 1
        with pytest.raises(AssertionError, match="expected no such job"):
            await aassert_not_enqueued(conn, greet)
        with pytest.raises(AssertionError, match="found 0"):
            await aassert_enqueued(conn, spread)
        await conn.rollback()


def test_perform_goes_by_way_of_json() -> None:
    seen: list[tuple[object, ...]] = []
    job = greet.new(who="ann", number=NUMBER)
    found = perform(job, resources={greeting: "hi"}, on_progress=lambda *told: seen.append(told))
    assert (found, seen) == ("hi, ann (UUID)", [(1, 2, "half")])
    with pytest.raises(ResourceFailed, match="resources="):
        perform(job)
    with pytest.raises(NotInTests, match="drain"):
        perform(spread.new(n=1))
    with pytest.raises(ValueError, match="not yet"):
        perform(shaky.new())
    assert perform(shaky.new(), attempt=2) is None
    with pytest.raises(Snooze):
        perform(later.new())
    with pytest.raises(TypeError, match="not known here"):
        perform(NewJob.of("greet"))


async def test_perform_within_a_loop() -> None:
    loop = asyncio.get_running_loop()
    job = greet.new(who="ann")
    assert await aperform(job, resources={greeting: "hi"}) == "hi, ann (NoneType)"
    assert perform(job, resources={greeting: "hi"}) == "hi, ann (NoneType)"  # on another loop
    assert asyncio.get_running_loop() is loop
    assert await aperform(shaky.new(), attempt=2) is None
    with pytest.raises(ResourceFailed):
        perform(job)


async def test_inline_runs_it_at_once(database: Database) -> None:
    with psycopg.connect(database.dsn) as conn, inline(resources={greeting: "hi"}) as ran:
        enqueue(conn, greet.using(delay=3600).new(who="ann"))
        assert ran[0].result == "hi, ann (NoneType)"
        assert enqueue_many(conn, [later.new()] * 300)[0].created  # more than go by COPY
        assert isinstance(ran[-1].signal, Snooze)
        with pytest.raises(ValueError, match="not yet"):
            enqueue(conn, shaky.new())
        async with AsyncClient(database.dsn) as client:
            await client.enqueue(greet.new(who="bob"))
        with Client(database.dsn) as blocking:
            thread = Thread(target=lambda: blocking.enqueue(greet.new(who="eve")))
            thread.start()
            thread.join()
        assert [one.result for one in ran[-2:]] == ["hi, bob (NoneType)", "hi, eve (NoneType)"]
        assert_not_enqueued(conn)
    with psycopg.connect(database.dsn) as conn:  # and it is over
        enqueue(conn, greet.new(who="ann"))
        assert len(ran) == 303
        assert_enqueued(conn, greet, count=1)
        conn.rollback()


async def test_drain_with_a_frozen_clock(database: Database) -> None:
    start = datetime(2031, 5, 17, 9, tzinfo=UTC)
    with database.connect() as conn, FrozenClock(database.dsn, start) as clock:
        for n in range(20):
            enqueue(conn, spread.new(n=n % 2))
        enqueue(conn, shaky.new())
        enqueue(conn, greet.using(delay=timedelta(days=3)).new(who="ann"))
        assert conn.execute("select postmill.now()").fetchone() == (start,)
        ids = [view.id for view in enqueued(conn, spread)]
        assert [view.payload["n"] for view in enqueued(conn, spread)] == [0, 1] * 10  # in their order
        assert {view.created_at.date() for view in enqueued(conn)} == {start.date()}
        done = await adrain(database.dsn, "tests.testing.jobs")
        assert (done.succeeded, done.retried) == (30, 1)
        assert done.errors == ("shaky: ValueError: not yet",)
        assert_not_enqueued(conn, spread)
        assert len(set(ids)) == 20
        assert clock.tick(minutes=10) == clock.now == start + timedelta(minutes=10)
        assert (await adrain(database.dsn, shaky)).succeeded == 1
        clock.move_to(start + timedelta(days=3))
        assert (await adrain(database.dsn, "tests.testing.jobs")).succeeded == 1
        assert_not_enqueued(conn)
        with pytest.raises(ValueError, match="time zone"):
            clock.move_to(datetime(2031, 1, 1))
    with database.connect() as conn:
        (moment,) = conn.execute("select postmill.now()").fetchone() or ()
        assert abs(moment - datetime.now(UTC)) < timedelta(minutes=1)
        assert conn.execute("select to_regclass('postmill.frozen_clock')").fetchone() == (None,)


def test_drain_blocks_and_gives_up(database: Database) -> None:
    with database.connect() as conn:
        enqueue(conn, spread.new(n=2))
        assert drain(database.dsn, spread).succeeded == 3
        enqueue(conn, greet.new(who="nobody"))
        assert drain(database.dsn, spread).succeeded == 0  # of another type
        bind.run(conn, pause_queue("default"))
        enqueue(conn, spread.new(n=0))
        with pytest.raises(WaitTimeout, match=r"spread were not done in 0\.2 s"):
            drain(database.dsn, spread, timeout=0.2)
