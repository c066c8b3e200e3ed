"""One key from everywhere at once: each caller gets the one job's id (case 35); crossed keys never deadlock; a held
key keeps nobody waiting for longer than he allows (case 91); duplicates move no sequence (case 73)."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from postmill.client import Client, aenqueue, enqueue, enqueue_many
from postmill.domain.errors import KeyBusy, SerializationConflict
from postmill.domain.idempotency import Mode
from tests.bind.job_types import greet
from tests.support.databases import Database
from tests.support.invariants import invariants


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module: its tests are many and small."""
    return emptied


def at_once(work: Callable[[int], Any], threads: int) -> list[Any]:
    """The answers of `work(n)`, begun together in as many threads."""
    gate = threading.Barrier(threads)

    def begin(n: int) -> Any:
        gate.wait(30)
        return work(n)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(begin, range(threads)))


@pytest.mark.parametrize("mode", list(Mode))
def test_eight_threads_and_one_key(outside: Connection[Any], dsn: str, mode: Mode) -> None:
    job = greet.using(key="k", mode=mode, window=60 if mode in (Mode.WINDOW, Mode.TTL) else None).new()
    with Client(dsn, connections=8) as client:
        answers = [a for some in at_once(lambda _: [client.enqueue(job) for _ in range(25)], 8) for a in some]
    assert len(answers) == 200
    assert sum(answer.created for answer in answers) == 1
    assert len({answer.id for answer in answers}) == 1
    invariants(outside)


def test_one_key_while_its_job_starts_ends_and_is_pruned(outside: Connection[Any], dsn: str) -> None:
    """Who comes while the job lives gets it; who comes after its end makes the next one: no answer says nothing."""
    done = threading.Event()

    def churn() -> int:
        ended = 0
        with psycopg.connect(dsn, autocommit=True) as conn:
            while not done.is_set():
                row = conn.execute("select id from postmill.ready").fetchone()
                if row is not None:
                    conn.execute("select * from postmill.cancel_jobs(array[%s]::uuid[])", row)
                    conn.execute("delete from postmill.idempotency_key where job_id = %s", row)
                    ended += 1
        return ended

    job = greet.using(key="k").new()
    with ThreadPoolExecutor(1) as beside, Client(dsn, connections=8) as client:
        ended = beside.submit(churn)
        try:
            lists = at_once(lambda _: [client.enqueue(job) for _ in range(50)], 8)
        finally:
            done.set()
        assert ended.result() > 0
    answers = [answer for some in lists for answer in some]
    created = [answer.id for answer in answers if answer.created]
    assert len(answers) == 400
    assert len(set(created)) == len(created)
    assert {answer.id for answer in answers} == set(created)
    rows = outside.execute("select id from postmill.any_job").fetchall()
    assert {row[0] for row in rows} == set(created)
    invariants(outside)


async def test_two_hundred_coroutines_and_one_key(outside: Connection[Any], database: Database) -> None:
    conns = [await database.aconnect() for _ in range(20)]
    job = greet.using(key="k").new()

    async def ten(conn: Any) -> list[Any]:
        return [await aenqueue(conn, job) for _ in range(10)]

    answers = [answer for some in await asyncio.gather(*map(ten, conns)) for answer in some]
    for conn in conns:
        await conn.close()
    assert len(answers) == 200
    assert sum(answer.created for answer in answers) == 1
    assert len({answer.id for answer in answers}) == 1


def test_crossed_keys_in_one_call_each_do_not_deadlock(outside: Connection[Any], dsn: str) -> None:
    keys = [f"k{n}" for n in range(40)]

    def caller(n: int) -> list[bool]:
        order = keys if n % 2 else keys[::-1]
        with psycopg.connect(dsn) as conn:
            answers = enqueue_many(conn, [greet.using(key=key).new() for key in order])
        return [answer.created for answer in answers]

    created = [made for answers in at_once(caller, 8) for made in answers]
    assert sum(created) == 40
    invariants(outside)


def test_crossed_keys_over_two_calls_give_one_a_typed_error(outside: Connection[Any], dsn: str) -> None:
    """Nothing can order these; the loser's transaction stays usable, so that it can roll back as it likes."""
    first_done = threading.Barrier(2)

    def caller(n: int) -> str:
        first, second = ("a", "b") if n else ("b", "a")
        with psycopg.connect(dsn) as conn:
            enqueue(conn, greet.using(key=first).new())
            first_done.wait(30)
            try:
                enqueue(conn, greet.using(key=second).new())
            except SerializationConflict:
                assert conn.execute("select 1").fetchone() == (1,)
                conn.rollback()
                return "conflict"
            return "done"

    assert sorted(at_once(caller, 2)) == ["conflict", "done"]
    assert outside.execute("select count(*) from postmill.any_job").fetchone() == (2,)
    invariants(outside)


@pytest.mark.parametrize("wait", [0, 0.3, timedelta(seconds=0.3)])
def test_a_held_key_is_answered_within_the_wait(
    outside: Connection[Any], dsn: str, wait: timedelta | float
) -> None:
    job = greet.using(key="k").new()
    with psycopg.connect(dsn) as holder, psycopg.connect(dsn) as conn:
        enqueue(holder, job)
        began = time.monotonic()
        with pytest.raises(KeyBusy, match="'k' is held by a transaction that is still open"):
            enqueue(conn, job, wait=wait)
        assert time.monotonic() - began < 30
        # Usable, unrelated work goes through, and the bound was for that statement only.
        assert enqueue(conn, greet.using(key="free").new()).created
        assert conn.execute("show lock_timeout").fetchone() == ("0",)
        conn.commit()
        holder.commit()
        assert not enqueue(conn, job).created


def test_the_callers_own_lock_timeout_bounds_the_wait_too(outside: Connection[Any], dsn: str) -> None:
    with psycopg.connect(dsn) as holder, psycopg.connect(dsn) as conn:
        enqueue(holder, greet.using(key="k").new())
        conn.execute("set local lock_timeout = '50ms'")
        with pytest.raises(KeyBusy):
            enqueue(conn, greet.using(key="k").new())
        assert enqueue(conn, greet.new()).created


def test_many_on_five_keys_beside_a_long_transaction(outside: Connection[Any], dsn: str) -> None:
    """Case 91: five keys are enqueued over and over while one holder sleeps on them; others are unaffected."""
    with psycopg.connect(dsn) as holder, Client(dsn, connections=8) as client:
        enqueue_many(holder, [greet.using(key=f"k{n}").new() for n in range(5)])

        def insist(n: int) -> str:
            try:
                client.enqueue(greet.using(key=f"k{n % 5}").new(), wait=0.05)
            except KeyBusy:
                return "busy"
            return "answered"

        began = time.monotonic()
        assert set(at_once(insist, 8)) == {"busy"}
        assert client.enqueue(greet.new()).created
        assert time.monotonic() - began < 60
        holder.commit()
        assert set(at_once(insist, 8)) == {"answered"}
    assert outside.execute("select count(*) from postmill.idempotency_key").fetchone() == (5,)


def test_an_uncommitted_holder_that_rolls_back_leaves_the_key_to_the_next(
    outside: Connection[Any], dsn: str
) -> None:
    job = greet.using(key="k").new()
    with psycopg.connect(dsn) as holder, ThreadPoolExecutor(1) as beside:
        lost = enqueue(holder, job)
        waiting = beside.submit(lambda: _commit_one(dsn, job))
        _until_somebody_waits(outside)
        holder.rollback()
        answer = waiting.result(30)
    assert answer.created
    assert answer.id != lost.id
    assert outside.execute("select id from postmill.any_job").fetchall() == [(answer.id,)]


def test_duplicates_move_no_sequence(outside: Connection[Any]) -> None:
    """Case 73: every sequence in the schema stands where it stood after 2,000 duplicates."""
    enqueue(outside, greet.using(key="k").new())
    before = _sequences(outside)
    for _ in range(4):
        answers = enqueue_many(outside, [greet.using(key="k").new() for _ in range(500)])
        assert not any(answer.created for answer in answers)
    assert _sequences(outside) == before
    assert before


def _commit_one(dsn: str, job: Any) -> Any:
    with psycopg.connect(dsn) as conn:
        return enqueue(conn, job)


def _until_somebody_waits(conn: Connection[Any]) -> None:
    from tests.support.eventually import eventually

    asked = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    eventually(lambda: conn.execute(asked).fetchone() == (1,), 10, "one waits for the key")


def _sequences(conn: Connection[Any]) -> list[tuple[Any, ...]]:
    return conn.execute(
        "select sequencename, last_value from pg_sequences where schemaname = 'postmill' order by 1"
    ).fetchall()
