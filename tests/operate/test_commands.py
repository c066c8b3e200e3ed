"""Every command against a job in every state, twice, at once, and crossed; and the life cycle's table agrees."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from postmill.bind import drive
from postmill.domain.errors import PayloadRefused, UnknownQueue
from postmill.domain.lifecycle import TERMINAL, State
from postmill.operate import commands, insight
from tests.operate.conftest import Bench, greet
from tests.support.databases import Database
from tests.support.eventually import eventually
from tests.support.invariants import invariants


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module: its tests are many and small."""
    return emptied


WAITS = (State.SCHEDULED, State.QUEUED, State.BLOCKED)


@pytest.fixture(autouse=True)
def nothing_broken(bench: Bench) -> Iterator[None]:
    """Whatever the commands did, no job is lost or doubled."""
    yield
    invariants(bench.conn)


@pytest.mark.parametrize("state", list(State))
def test_cancel(bench: Bench, state: State) -> None:
    id = bench.make(state)
    expected = "canceled" if state in WAITS else "requested" if state is State.RUNNING else "finished"
    (answer,) = drive(bench.conn, commands.cancel([id], reason="no longer wanted", actor_id="ann"))
    assert (answer.id, answer.status) == (id, expected)
    after = drive(bench.conn, insight.job(id))
    assert after.status is (State.CANCELED if state in WAITS else state)
    assert after.cancel_requested is (state is State.RUNNING)
    if state in WAITS:
        assert after.reason == "no longer wanted"
        assert after.finished_at is not None
    # Once more changes nothing.
    (again,) = drive(bench.conn, commands.cancel([id]))
    assert again.status == ("requested" if state is State.RUNNING else "finished")
    assert drive(bench.conn, insight.job(id)).status is after.status


@pytest.mark.parametrize("state", list(State))
def test_retry(bench: Bench, state: State) -> None:
    id = bench.make(state)
    (answer,) = drive(bench.conn, commands.retry([id]))
    expected = {
        State.SCHEDULED: "due",
        State.QUEUED: "waiting",
        State.BLOCKED: "waiting",
        State.RUNNING: "running",
        State.SUCCEEDED: "succeeded",
    }.get(state, "replayed")
    assert answer.status == expected
    if expected == "due":
        assert bench.state(id) is State.QUEUED
    elif expected == "replayed":
        assert_replayed(bench, id, state, answer.new_id)
    else:
        assert bench.state(id) is state


@pytest.mark.parametrize("state", list(State))
def test_replay(bench: Bench, state: State) -> None:
    id = bench.make(state)
    (answer,) = drive(bench.conn, commands.replay([id], payload=b'{"name": "Eve"}'))
    if state not in TERMINAL or state is State.SUCCEEDED:
        words = {State.RUNNING: "running", State.SUCCEEDED: "succeeded"}
        assert answer.status == words.get(state, "waiting")
        assert bench.state(id) is state
        return
    assert answer.status == "replayed"
    assert_replayed(bench, id, state, answer.new_id)
    assert drive(bench.conn, insight.job(answer.new_id or id)).payload == {"name": "Eve"}
    # As long as the replay lives there is no second one; when it has ended there is one, for who knows and says so.
    for more in (False, True):
        (live,) = drive(bench.conn, commands.replay([id], again=more))
        assert (live.status, live.new_id) == ("live", answer.new_id)
    drive(bench.conn, commands.cancel([answer.new_id or id]))
    for act in (commands.replay, commands.retry):
        (refused,) = drive(bench.conn, act([id]))
        assert (refused.status, refused.new_id) == ("already_replayed", answer.new_id)
    (later,) = drive(bench.conn, commands.replay([id], again=True))
    assert later.status == "replayed"
    assert later.new_id not in (None, answer.new_id)
    drive(bench.conn, commands.cancel([later.new_id or id]))
    (refused,) = drive(bench.conn, commands.replay([id]))
    assert (refused.status, refused.new_id) == ("already_replayed", later.new_id)


def test_two_replays_at_once_are_one(bench: Bench, database: Database) -> None:
    """The second begins while the first has not committed, waits for it, and names its job."""
    id = bench.make(State.DEAD_LETTER)
    with database.connect() as first, database.connect() as second, ThreadPoolExecutor(1) as pool:
        first.autocommit = False
        (one,) = drive(first, commands.replay([id]))
        later = pool.submit(drive, second, commands.replay([id]))
        eventually(lambda: waits(bench.conn, second.info.backend_pid), 30)
        first.commit()
        (other,) = later.result()
    assert (one.status, other.status, other.new_id) == ("replayed", "live", one.new_id)
    assert bench.conn.execute(
        "select count(*) from postmill.job where replayed_from = %s", [id]
    ).fetchone() == (1,)


@pytest.mark.parametrize("state", list(State))
def test_discard(bench: Bench, state: State) -> None:
    id = bench.make(state)
    (answer,) = drive(bench.conn, commands.discard([id], reason="will not be mended"))
    dead = state is State.DEAD_LETTER
    assert answer.status == ("discarded" if dead else "not_dead")
    assert bench.state(id) is (State.FAILED if dead else state)
    if dead:
        job = drive(bench.conn, insight.job(id))
        assert (job.reason, job.error_class) == ("will not be mended", "ValueError")
        assert drive(bench.conn, insight.dead_letters()) == []
    (again,) = drive(bench.conn, commands.discard([id]))
    assert again.status == "not_dead"


def test_unknown_ids_are_told_and_stop_no_other(bench: Bench) -> None:
    known, unknown = bench.make(State.QUEUED), uuid4()
    answers = drive(bench.conn, commands.cancel([unknown, known, known]))
    assert {answer.id: answer.status for answer in answers} == {known: "canceled", unknown: "unknown"}
    flows: list[Any] = [commands.retry([unknown]), commands.replay([unknown]), commands.discard([unknown])]
    for flow in flows:
        assert [answer.status for answer in drive(bench.conn, flow)] == ["unknown"]
    assert drive(bench.conn, commands.cancel([])) == []


def test_many_at_once(bench: Bench) -> None:
    ids = [bench.make(state) for state in State for _ in range(3)]
    told = drive(bench.conn, commands.cancel(ids))
    assert sorted(answer.status for answer in told) == sorted(
        ["canceled"] * 9 + ["requested"] * 3 + ["finished"] * 12
    )


@pytest.mark.parametrize("act", [commands.retry, commands.replay])
def test_a_replay_that_must_be_asked_about(bench: Bench, act: Any) -> None:
    id = bench.make(State.DEAD_LETTER)
    bench.conn.execute("update postmill.job_definition set replay_class = 'ask' where key = 'greet'")
    (answer,) = drive(bench.conn, act([id]))
    assert (answer.status, answer.new_id, bench.state(id)) == ("unconfirmed", None, State.DEAD_LETTER)
    (answer,) = drive(bench.conn, act([id], confirm=True))
    assert answer.status == "replayed"


def test_a_replay_takes_the_key_along(bench: Bench) -> None:
    id = bench.make(State.DEAD_LETTER, greet.using(key="k", mode="window", window=3600).new())
    (answer,) = drive(bench.conn, commands.replay([id]))
    assert answer.status == "replayed"
    held = bench.conn.execute("select job_id from postmill.idempotency_key where key = 'k'").fetchall()
    assert held == [(answer.new_id,)]


def test_a_replay_names_the_live_holder_of_its_key(bench: Bench) -> None:
    dead = bench.make(State.DEAD_LETTER, greet.using(key="k").new())
    live = bench.make(State.QUEUED, greet.using(key="k").new())
    (answer,) = drive(bench.conn, commands.replay([dead]))
    assert (answer.status, answer.new_id) == ("key_held", live)
    assert bench.state(dead) is State.DEAD_LETTER


def test_a_payload_that_cannot_be_stored_is_refused_before_sql(bench: Bench) -> None:
    with pytest.raises(PayloadRefused, match="args"):
        drive(bench.conn, commands.replay([uuid4()], payload=b'{"a": NaN}'))


@pytest.mark.parametrize("crossed", ["cancel", "retry", "replay", "discard"])
def test_two_operators_at_once(bench: Bench, dsn: str, crossed: str) -> None:
    """The same 60 jobs in opposite orders, one operator replays or cancels what the other does something else to."""
    ids = [bench.make(state) for state in State for _ in range(4)]
    gate = threading.Barrier(4)

    def operator(n: int) -> list[Any]:
        command: Any = getattr(commands, crossed if n % 2 else "replay" if n else "cancel")
        with psycopg.connect(dsn, autocommit=True) as conn:
            gate.wait(30)
            return list(drive(conn, command(ids if n % 2 else reversed(ids))))

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(operator, range(4)))
    assert all(len(told) == len(ids) for told in answers)
    # However often it was asked for, each ended job was replayed at most once while its replay lived.
    live = bench.conn.execute(
        "select replayed_from, count(*) from postmill.any_job where replayed_from is not null"
        " and postmill.is_live(id) group by 1 having count(*) > 1"
    ).fetchall()
    assert live == []


def test_cancel_against_a_claim(bench: Bench, dsn: str) -> None:
    """Whoever comes first, the other hears of it: canceled and never run, or running and asked to end."""
    for _ in range(30):
        id = bench.make(State.QUEUED)
        row = bench.conn.execute("select lane from postmill.ready where id = %s", [id]).fetchone()
        assert row is not None
        gate = threading.Barrier(2)

        def claim(lane: UUID = row[0], gate: threading.Barrier = gate) -> list[Any]:
            with psycopg.connect(dsn, autocommit=True) as conn:
                gate.wait(30)
                bench.claims += 1
                return conn.execute(
                    "select id from postmill.claim(%s, %s, 1, '{default}', %s::uuid[], '{100}', '{NULL}', '{1}')",
                    [bench.holder, bench.claims, [lane]],
                ).fetchall()

        with ThreadPoolExecutor(1) as pool:
            claimed = pool.submit(claim)
            gate.wait(30)
            (answer,) = drive(bench.conn, commands.cancel([id]))
            got = claimed.result(30)
        if answer.status == "canceled":
            assert got == []
            assert bench.state(id) is State.CANCELED
        else:
            assert answer.status == "requested"
            # The claim may itself have been skipped by the cancel's lock; the sweep answers such a request.
            bench.conn.execute("select postmill.sweep(1000)")
            after = drive(bench.conn, insight.job(id))
            assert after.status is State.CANCELED or after.cancel_requested
            bench.conn.execute("delete from postmill.running; delete from postmill.cancel_request")
            bench.conn.execute("delete from postmill.job where id = %s", [id])


def test_pause_and_resume(bench: Bench) -> None:
    bench.conn.execute("insert into postmill.queue (name) values ('q:Mail')")
    until = datetime.now(UTC) + timedelta(hours=1)
    assert drive(bench.conn, commands.pause("Q:MAIL", reason="provider down", actor="ann")) == "q:Mail"
    (queue,) = (q for q in drive(bench.conn, insight.all_queues()) if q.name == "q:Mail")
    assert (queue.paused, queue.pause_reason, queue.paused_by) == (True, "provider down", "ann")
    drive(bench.conn, commands.pause("q:Mail", resume_at=until))
    assert drive(bench.conn, commands.resume("q:mail")) == "q:Mail"
    assert not any(q.paused for q in drive(bench.conn, insight.all_queues()))
    drive(bench.conn, commands.pause("q:Mail", resume_at=datetime.now(UTC) - timedelta(seconds=1)))
    assert not any(q.paused for q in drive(bench.conn, insight.all_queues()))
    with pytest.raises(UnknownQueue, match="did you mean 'q:Mail'"):
        drive(bench.conn, commands.pause("q:mial"))
    with pytest.raises(UnknownQueue):
        drive(bench.conn, commands.resume("nothing"))
    with pytest.raises(ValueError, match="time zone"):
        drive(bench.conn, commands.pause("q:Mail", resume_at=datetime(2030, 1, 1)))


def test_register(bench: Bench) -> None:
    assert drive(bench.conn, commands.register([greet])) == {"greet": "unchanged"}
    bench.conn.execute(
        "update postmill.job_definition set max_attempts = 9, edited = '{max_attempts}' where key = 'greet'"
    )
    assert drive(bench.conn, commands.register([greet])) == {"greet": "kept"}
    row = bench.conn.execute(
        "select max_attempts from postmill.job_definition where key = 'greet'"
    ).fetchone()
    assert row == (9,)


def waits(conn: psycopg.Connection[Any], pid: int) -> bool:
    """Whether a backend waits for somebody's lock."""
    return conn.execute("select from pg_locks where pid = %s and not granted", [pid]).fetchone() is not None


def assert_replayed(bench: Bench, id: UUID, state: State, new_id: UUID | None) -> None:
    """A new job that names the old one, and the old one names it; a dead letter left the list."""
    assert new_id is not None
    new, old = (drive(bench.conn, insight.job(which)) for which in (new_id, id))
    assert (new.status, new.replayed_from, new.actor_type) == (State.QUEUED, id, "user")
    assert (old.status, old.replayed_as) == (state, new_id)
    assert drive(bench.conn, insight.dead_letters()) == []
