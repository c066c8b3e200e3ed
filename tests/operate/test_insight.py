"""The read models: what they show, their pages and filters, and that a million jobs do not slow them."""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection

from postmill.bind import drive, run
from postmill.client import enqueue_many
from postmill.domain.errors import NotFound, UnknownJobType, UnknownQueue
from postmill.domain.lifecycle import State
from postmill.operate import commands, insight
from postmill.store.jobs import list_jobs
from tests.operate.conftest import Bench, greet
from tests.support.databases import Database


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module: its tests are many and small."""
    return emptied


@pytest.mark.parametrize("state", list(State))
def test_a_list_by_state_shows_that_state(bench: Bench, state: State) -> None:
    ids = {each: [bench.make(each) for _ in range(2)] for each in State}
    page = drive(bench.conn, insight.jobs(state=state))
    assert [line.id for line in page.jobs] == sorted(ids[state], reverse=True)
    assert {line.status for line in page.jobs} == {state}
    assert page.before is None


def test_pages_follow_each_other_newest_first(bench: Bench) -> None:
    ids = sorted((bench.make(state) for state in State for _ in range(3)), reverse=True)
    seen: list[UUID] = []
    before = None
    while True:
        page = drive(bench.conn, insight.jobs(before=before, most=5))
        seen += [line.id for line in page.jobs]
        before = page.before
        if before is None:
            break
    assert seen == ids


def test_filters(bench: Bench) -> None:
    tenant = uuid4()
    mine = bench.make(State.QUEUED, greet.using(tenant=tenant).new())
    bench.make(State.QUEUED)
    assert [j.id for j in drive(bench.conn, insight.jobs(tenant=tenant)).jobs] == [mine]
    assert [j.id for j in drive(bench.conn, insight.jobs(tenant=tenant, state=State.QUEUED)).jobs] == [mine]
    assert drive(bench.conn, insight.jobs(tenant=tenant, state=State.RUNNING)).jobs == []
    assert len(drive(bench.conn, insight.jobs(job_type="greet", queue="DEFAULT")).jobs) == 2
    with pytest.raises(UnknownJobType, match="did you mean 'greet'"):
        drive(bench.conn, insight.jobs(job_type="gret"))
    with pytest.raises(UnknownQueue, match="known queues: default"):
        drive(bench.conn, insight.jobs(queue="mail"))


def test_one_job_whole(bench: Bench) -> None:
    id = bench.make(State.SUCCEEDED, greet.using(key="k", priority=3).new("Ada"))
    job = drive(bench.conn, insight.job(id))
    assert (job.result, job.payload, job.key, job.priority) == ({"said": "hello"}, {"name": "Ada"}, "k", 3)
    assert (job.worker_id, job.attempt, job.succeeded) == ("w1", 1, True)
    with pytest.raises(NotFound):
        drive(bench.conn, insight.job(uuid4()))


def test_attempts(bench: Bench) -> None:
    id = bench.make(State.QUEUED)
    bench.report("put_back", id, "'{2000}', '{failed}', '{-1}', '{0}', '{OSError}', '{E}', '{gone}', '{503}'")
    bench.claim(id)
    first, second = drive(bench.conn, insight.attempts(id))
    assert (first.run, first.status, first.error_class, first.error_status) == (1, "failed", "OSError", 503)
    assert (first.worker_id, first.pid) == ("w1", 7)
    assert (second.run, second.status, second.finished_at) == (2, "running", None)
    job = drive(bench.conn, insight.job(id))
    assert (job.status, job.error_class) == (State.RUNNING, "OSError")


def test_dead_letters(bench: Bench) -> None:
    ids = [bench.make(State.DEAD_LETTER) for _ in range(5)]
    first = drive(bench.conn, insight.dead_letters(most=3))
    rest = drive(bench.conn, insight.dead_letters(most=3, before=first[-1].position))
    assert [letter.id for letter in first + rest] == ids[::-1]
    assert drive(bench.conn, insight.dead_letters(reason="undecodable")) == []
    assert len(drive(bench.conn, insight.dead_letters(reason="max_retries_exceeded", job_type="greet"))) == 5
    letter = drive(bench.conn, insight.dead_letter(ids[0]))
    assert (letter.error_message, letter.error_status, letter.payload) == ("broken", 500, {"name": "Ada"})
    with pytest.raises(NotFound, match="replayed or discarded"):
        drive(bench.conn, insight.dead_letter(uuid4()))


def test_queues_and_workers(bench: Bench) -> None:
    for state in State:
        bench.make(state)
    (queue,) = drive(bench.conn, insight.all_queues())
    depth = (queue.queued, queue.scheduled, queue.blocked, queue.running, queue.dead_letters)
    assert depth == (1, 1, 1, 1, 1)
    assert queue.oldest_seconds is not None
    assert 0 <= queue.oldest_seconds < 60
    assert queue.next_due_seconds is not None
    assert 3500 < queue.next_due_seconds <= 3600
    (worker,) = drive(bench.conn, insight.all_workers())
    assert (worker.worker_id, worker.state, worker.queues, worker.pid) == ("w1", "running", ("default",), 7)
    bench.conn.execute("update postmill.lease set expires_at = postmill.now()")
    assert [w.state for w in drive(bench.conn, insight.all_workers())] == ["lost"]
    bench.conn.execute("select postmill.close_session(%s)", [bench.holder])
    assert [w.state for w in drive(bench.conn, insight.all_workers())] == ["stopped"]


def test_a_rare_filter_among_many_gives_a_short_page_to_go_on_from(bench: Bench) -> None:
    """No page looks at more than 10,000 jobs, so none is slow; the rare job is found by going on."""
    tenant = uuid4()
    rare = bench.make(State.QUEUED, greet.using(tenant=tenant).new())
    enqueue_many(bench.conn, [greet.new() for _ in range(10_050)])
    page = drive(bench.conn, insight.jobs(tenant=tenant, state=State.QUEUED))
    assert page.jobs == []
    assert page.before is not None
    page = drive(bench.conn, insight.jobs(tenant=tenant, state=State.QUEUED, before=page.before))
    assert [line.id for line in page.jobs] == [rare]
    assert page.before is None


@pytest.mark.long
def test_reads_are_quick_at_a_million(pg: Connection[Any], bench: Bench) -> None:
    """Never analysed, generic plans forced: each read within half a second."""
    for _ in range(50):
        enqueue_many(pg, [greet.new() for _ in range(20_000)])
    pg.execute("set plan_cache_mode = force_generic_plan")
    for filters in (
        {},
        {"state": State.QUEUED},
        {"job_type": "none"},
        {"tenant": uuid4(), "state": State.QUEUED},
    ):
        began = time.perf_counter()
        run(pg, list_jobs(**filters))
        assert time.perf_counter() - began < 0.5, filters
    id = run(pg, list_jobs(most=1)).jobs[0].id
    began = time.perf_counter()
    assert drive(pg, insight.job(id)).status is State.QUEUED
    assert time.perf_counter() - began < 0.2


def test_the_view_tells_the_last_error_whole(bench: Bench) -> None:
    again = bench.make(State.QUEUED)
    bench.report(
        "put_back", again, "'{2000}', '{failed}', '{-1}', '{0}', '{OSError}', '{ENOSPC}', '{full}', '{507}'"
    )
    ended = bench.make(State.QUEUED)
    bench.report(
        "put_back", ended, "'{2000}', '{failed}', '{-1}', '{0}', '{OSError}', '{ENOSPC}', '{full}', '{507}'"
    )
    bench.report(
        "finish",
        ended,
        "'{5000}', '{failed}', '{failed}', '{permanent_error}', '{ValueError}', '{NULL}', '{no}'",
    )
    expected = {
        again: ("full", "OSError", "ENOSPC"),
        ended: ("no", "ValueError", None),
        bench.make(State.DEAD_LETTER): ("broken", "ValueError", "E1"),
        bench.make(State.SUCCEEDED): (None, None, None),
    }
    (replayed, *_) = [id for id, error in expected.items() if error[2] == "E1"]
    drive(bench.conn, commands.replay([replayed]))
    columns = "last_error, last_error_class, last_error_code"
    rows = bench.conn.execute(
        f"select id, {columns} from postmill.jobs where replayed_from is null"
    ).fetchall()
    assert {id: tuple(error) for id, *error in rows} == expected
