"""Jobs that wait in another queue than their type's: they are seen, and an operator can move them."""

from __future__ import annotations

import threading
from typing import Any
from uuid import uuid4

import pytest
from psycopg import Connection

from postmill.bind import drive, run
from postmill.client import cancel, enqueue, enqueue_many
from postmill.domain.errors import UnknownJobType, UnknownQueue
from postmill.domain.job import NewJob
from postmill.domain.job_type import JobType, job
from postmill.domain.lane import lane_of
from postmill.domain.lifecycle import State
from postmill.domain.limit import Rate
from postmill.operate import commands, insight
from postmill.operate.commands import Moved
from postmill.store.moving import Strays, move_jobs
from postmill.store.registration import register_job_types
from tests.operate.conftest import Bench, greet
from tests.support import sessions
from tests.support.databases import Database
from tests.support.invariants import invariants

Pg = Connection[Any]
TICKETS = ("ready", "scheduled", "blocked", "running")


def also(**options: Any) -> JobType[..., ..., Any]:
    """`greet`, as its module has it after a change."""

    @job("greet", **options)
    def changed(name: str = "you") -> None: ...

    return changed


def moved_to(pg: Pg, queue: str, **options: Any) -> None:
    run(pg, register_job_types([also(queue=queue, **options)]))


def tickets(pg: Pg, table: str) -> list[tuple[Any, ...]]:
    return pg.execute(f"select id, queue, lane from postmill.{table} order by id").fetchall()


def test_waiting_jobs_go_where_their_type_went(bench: Bench) -> None:
    pg = bench.conn
    ids = {state: bench.make(state) for state in State}
    before = {table: pg.execute(f"select to_jsonb(t) - '{{queue,ready_at}}'::text[] from postmill.{table} t order by id")
              .fetchall() for table in TICKETS}  # fmt: skip
    moved_to(pg, "mail")
    waiting = {State.QUEUED, State.SCHEDULED, State.BLOCKED}
    assert drive(pg, insight.strays()) == [Strays("greet", "default", "mail", 3, 1)]
    assert drive(pg, commands.move("greet")) == Moved("greet", "mail", "mail", 3)
    for table in TICKETS:
        rows = pg.execute(
            f"select to_jsonb(t) - '{{queue,ready_at}}'::text[] from postmill.{table} t order by id"
        )
        assert rows.fetchall() == before[table], "attempts, priorities, due times stay"
    for state, id in ids.items():
        found = drive(pg, insight.job(id))
        assert (found.status, found.queue) == (state, "mail" if state in waiting else "default")
    for filters in ({}, {"state": State.QUEUED}):
        listed = {
            queue: {line.id for line in drive(pg, insight.jobs(queue=queue, **filters)).jobs}
            for queue in ("mail", "default")
        }
        assert ids[State.QUEUED] in listed["mail"]
        assert ids[State.QUEUED] not in listed["default"]
    row = pg.execute("select queue from postmill.jobs where id = %s", [ids[State.BLOCKED]]).fetchone()
    assert row == ("mail",)
    # What runs is left, and comes back if it is tried again.
    assert drive(pg, insight.strays("greet")) == [Strays("greet", "default", "mail", 0, 1)]
    assert drive(pg, commands.move("greet")).moved == 0
    invariants(pg)


def test_a_moved_job_is_claimed_there_and_not_here(bench: Bench) -> None:
    pg = bench.conn
    ids = [bench.make(State.QUEUED) for _ in range(3)]
    moved_to(pg, "mail")
    drive(pg, commands.move("greet"))
    worker = sessions.WorkerSession(pg)
    assert worker.claim() == []
    lanes = sessions.rows(pg, "claim/discover_lanes", ["mail"], 1000)
    held = worker.claim(lanes=lanes)
    assert [line.id for line in held] == ids, "in the order in which they waited"
    assert sessions.complete(pg, held) == set()


@pytest.mark.parametrize(
    ("before", "after", "expected", "key"),
    [
        ({}, {"lane": "none"}, "none", None),
        ({"lane": "none"}, {}, "tenant", None),
        ({}, {"rate": Rate(1000, per=1)}, "type", None),
        ({"rate": Rate(1000, per=1)}, {}, "tenant", None),
        ({}, {"lane": "payload.name"}, "payload.name", "Ada"),
        ({"lane": "payload.name"}, {"lane": "payload.name"}, "payload.name", "Ada"),
    ],
    ids=["to none", "from none", "to a limit", "from a limit", "to a field", "by a field"],
)
def test_the_lane_is_the_one_that_an_enqueue_would_give(
    pg: Pg, before: dict[str, Any], after: dict[str, Any], expected: str, key: str | None
) -> None:
    moved_to(pg, "default", **before)
    tenant = uuid4()
    plain = enqueue(pg, greet.using(tenant=tenant).new("Ada")).id
    named = enqueue(pg, greet.using(tenant=tenant, lane_key="mine").new("Ada")).id
    moved_to(pg, "mail", **after)
    fresh = enqueue(pg, greet.using(tenant=tenant).new("Ada")).id
    drive(pg, commands.move("greet"))
    lane = {id: lane for id, queue, lane in tickets(pg, "ready") if queue == "mail"}
    assert lane[plain] == lane[fresh] == lane_of(expected, tenant, "greet", key)
    limited = "rate" in after or "rate" in before
    assert lane[named] == (lane[fresh] if limited else lane_of("tenant", tenant, "greet", "mine"))


def test_by_an_alias_to_any_queue_and_what_is_unknown_is_said(bench: Bench) -> None:
    pg = bench.conn
    bench.make(State.QUEUED)
    moved_to(pg, "Mail", aliases=["hello"])
    assert drive(pg, commands.move("hello", "MAIL")) == Moved("greet", "Mail", "Mail", 1)
    assert drive(pg, commands.move("greet", "default")) == Moved("greet", "default", "Mail", 1)
    pg.execute("update postmill.job_definition set is_active = false")
    assert drive(pg, commands.move("greet")).moved == 1
    pg.execute("update postmill.job_definition set is_active = true")
    with pytest.raises(UnknownJobType, match="did you mean 'greet'"):
        drive(pg, commands.move("gret"))
    with pytest.raises(UnknownQueue, match="known queues: Mail, default"):
        drive(pg, commands.move("greet", "post"))


def test_jobs_of_an_alias_that_became_the_name_move_too(pg: Pg) -> None:
    run(pg, register_job_types([greet]))
    id = enqueue(pg, greet.new()).id

    @job("welcome", queue="mail", aliases=["greet"])
    def welcome(name: str = "you") -> None: ...

    pg.execute("delete from postmill.job_definition where key = 'greet'")
    run(pg, register_job_types([welcome]))
    assert drive(pg, insight.strays()) == [Strays("welcome", "default", "mail", 1, 0)]
    assert drive(pg, commands.move("welcome")).moved == 1
    assert drive(pg, insight.job(id)).queue == "mail"


def test_many_in_batches_and_nobody_elses(bench: Bench) -> None:
    pg = bench.conn

    @job("other")
    def other() -> None: ...

    run(pg, register_job_types([other]))
    mixed: list[NewJob] = [(greet if n % 3 else other).new() for n in range(300)]
    mixed += [greet.using(delay=3600).new() for _ in range(30)]
    enqueue_many(pg, mixed)
    moved_to(pg, "mail")
    assert drive(pg, commands.move("greet", batch=50)).moved == 230
    rows = pg.execute("select queue, count(*) from postmill.ready group by 1 order by 1").fetchall()
    assert rows == [("default", 100), ("mail", 200)]
    assert drive(pg, insight.strays()) == []
    invariants(pg)


def test_what_somebody_holds_stays_and_waits_for_nobody(bench: Bench, database: Database) -> None:
    pg = bench.conn
    held, free = bench.make(State.QUEUED), bench.make(State.QUEUED)
    moved_to(pg, "mail")
    with database.connect() as other, other.transaction(force_rollback=True):
        cancel(other, held)
        pg.execute("set lock_timeout = '5s'")
        assert drive(pg, commands.move("greet")).moved == 1
    assert {id: queue for id, queue, _ in tickets(pg, "ready")} == {held: "default", free: "mail"}
    assert drive(pg, commands.move("greet")).moved == 1


def test_two_movers_and_a_claimer_at_once_lose_and_double_nothing(bench: Bench, database: Database) -> None:
    pg = bench.conn
    enqueue_many(pg, [greet.new() for _ in range(400)])
    moved_to(pg, "mail")
    begin = threading.Barrier(3)
    taken: list[int] = []

    def mover() -> None:
        with database.connect() as conn:
            begin.wait()
            taken.append(drive(conn, commands.move("greet", batch=25)).moved)

    def claimer() -> None:
        with database.connect() as conn:
            worker = sessions.WorkerSession(conn)
            begin.wait()
            taken.extend(len(worker.claim(10)) for _ in range(10))

    threads = [threading.Thread(target=each) for each in (mover, mover, claimer)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    drive(pg, commands.move("greet"))
    counts = pg.execute(
        "select (select count(*) from postmill.ready where queue = 'mail'), (select count(*) from postmill.running)"
    ).fetchone()
    assert counts is not None
    assert sum(counts) == 400
    assert sum(taken) <= 400
    invariants(pg)


def test_the_watchman_of_the_new_queue_is_rung(bench: Bench, database: Database) -> None:
    pg = bench.conn
    for tenant in (uuid4(), uuid4()):
        bench.make(State.QUEUED, greet.using(tenant=tenant).new())
    moved_to(pg, "mail")
    pg.execute(
        "insert into postmill.sleeper (holder, queue, watch, valid_until)"
        " values (%s, 'mail', true, postmill.now() + interval '1 minute')",
        [bench.holder],
    )
    with database.connect() as listener:
        listener.execute("listen postmill")
        drive(pg, commands.move("greet"))
        heard = [note.payload for note in listener.notifies(timeout=5, stop_after=2)]
    assert sorted(heard) == sorted(f"{lane} 100 mail" for _, _, lane in tickets(pg, "ready"))


def test_a_batch_for_what_is_unknown_moves_nothing(bench: Bench) -> None:
    bench.make(State.QUEUED)
    for job_type, queue in (("none", "default"), ("greet", "none")):
        done = run(bench.conn, move_jobs(job_type, queue, after=None, most=10))
        assert (done.moved, done.looked_at) == (0, None)
