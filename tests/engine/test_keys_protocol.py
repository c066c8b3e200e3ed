"""Idempotency keys beside the life of their jobs: claims in flight, ends of every kind, rescue, replay, sweeping
(design: engine protocols, section 7). Concurrency of enqueues among themselves is in tests/bind/test_keys_concurrent.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from tests.support import sessions
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.sessions import Held, WorkerSession, rows


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module: its tests are many and small."""
    return emptied


pytestmark = pytest.mark.matrix

Answer = tuple[UUID, str]


def ask(conn: Connection[Any], mode: str | None = None, *, key: str = "k", ttl: str | None = None) -> Answer:
    """Enqueue under the key; (id, created | duplicate …)."""
    row = conn.execute(
        """select id, status from postmill.enqueue_many('{plain}', '{"{}"}', p_keys => array[%s], p_modes => array[%s],
               p_ttls => array[%s::interval])""",
        (key, mode, ttl),
    ).fetchone()
    assert row is not None
    return row[0], row[1]


@pytest.fixture
def worker(pg: Connection[Any]) -> Iterator[WorkerSession]:
    pg.execute("""select * from postmill.register_job_types('[{"key": "plain", "max_attempts": 2}]')""")
    yield WorkerSession(pg)
    invariants(pg, lease_seconds=1e9)


# Mode `queued`: free once claimed.


def test_a_queued_key_beside_a_claim_in_flight(
    database: Database, pg: Connection[Any], worker: WorkerSession
) -> None:
    """The ticket is locked by a claim that is not committed: the job may have begun, so a new one is made."""
    first = ask(pg, "queued")
    with database.connect() as claiming, claiming.transaction():
        claiming.execute("select from postmill.ready for update")
        second = ask(pg, "queued")
        assert (second[1], second[0] != first[0]) == ("created", True)
    assert {line.id for line in worker.claim()} == {first[0], second[0]}


def test_a_claim_beside_a_queued_duplicate_in_flight(
    database: Database, pg: Connection[Any], worker: WorkerSession
) -> None:
    """The duplicate's caller has not committed: his change must be visible to the run, so the claim passes the ticket."""
    first = ask(pg, "queued")
    other = ask(pg, key="other")
    with database.connect() as caller, caller.transaction():
        assert ask(caller, "queued") == (first[0], "duplicate")
        assert [line.id for line in worker.claim()] == [other[0]]
    assert [line.id for line in worker.claim()] == [first[0]]


@pytest.mark.parametrize("where", ["scheduled", "ready"])
def test_a_queued_key_is_held_while_its_job_waits(
    pg: Connection[Any], worker: WorkerSession, where: str
) -> None:
    first = ask(pg, "queued")
    (held,) = worker.claim()
    second = ask(pg, "queued")
    assert second[1] == "created"
    # The first comes back: two of the key may wait now, and neither blocks anybody.
    sessions.put_back(pg, [held], "failed", 60.0 if where == "scheduled" else 0.0)
    if where == "ready":
        sessions.promote(pg)
    assert ask(pg, "queued") == (second[0], "duplicate")
    assert first[0] != second[0]


# Mode `active`: freed when the job ends, however it ends.

ENDS: dict[str, Callable[[Connection[Any], Held], object]] = {
    "success": lambda conn, held: sessions.complete(conn, [held]),
    "failure": lambda conn, held: sessions.finish(conn, [held], "failed"),
    "cancellation": lambda conn, held: sessions.finish(conn, [held], "canceled"),
    "burial": lambda conn, held: sessions.bury(conn, [held]),
}


@pytest.mark.parametrize("end", ENDS)
def test_an_active_key_is_free_after(pg: Connection[Any], worker: WorkerSession, end: str) -> None:
    first = ask(pg, "active")
    assert ask(pg) == (first[0], "duplicate")
    (held,) = worker.claim()
    assert ask(pg) == (first[0], "duplicate")
    sessions.put_back(pg, [held], "failed", 0.0)
    assert ask(pg) == (first[0], "duplicate")
    sessions.promote(pg)
    (held,) = worker.claim()
    ENDS[end](pg, held)
    second = ask(pg)
    assert (second[1], second[0] != first[0]) == ("created", True)


def test_an_active_key_is_free_after_a_cancellation_of_what_waits(
    pg: Connection[Any], worker: WorkerSession
) -> None:
    first = ask(pg)
    rows(pg, "jobs/cancel_jobs", [first[0]], "user", None, None)
    assert ask(pg)[1] == "created"


def test_an_orphan_keeps_its_key_until_it_is_taken_back(pg: Connection[Any], worker: WorkerSession) -> None:
    """Case 43: who enqueues meanwhile gets the orphan, and exactly one job of the key runs to the end."""
    first = ask(pg, "active")
    worker.claim()
    worker.die()
    rescuer = WorkerSession(pg, lease=30, age=100)
    assert ask(pg) == (first[0], "duplicate")
    assert rescuer.rescue() == {first[0]: "scheduled"}
    assert ask(pg) == (first[0], "duplicate")
    sessions.promote(pg)
    (held,) = rescuer.claim()
    assert held.id == first[0]
    assert not sessions.complete(pg, [held])
    assert ask(pg)[1] == "created"


def test_a_poison_job_frees_its_key_in_the_end(pg: Connection[Any], worker: WorkerSession) -> None:
    first = ask(pg, "active")
    rescuer = WorkerSession(pg, lease=30, age=100)
    for verdict in ("scheduled", "dead_letter"):
        doomed = WorkerSession(pg)
        assert len(doomed.claim()) == 1
        doomed.die()
        assert rescuer.rescue() == {first[0]: verdict}
        sessions.promote(pg)
    assert ask(pg)[1] == "created"


# Modes `window` and `ttl`: for a time, whatever becomes of the job.


@pytest.mark.parametrize("mode", ["window", "ttl"])
def test_a_timed_key_outlives_its_job(pg: Connection[Any], worker: WorkerSession, mode: str) -> None:
    first = ask(pg, mode, ttl="1 hour")
    sessions.complete(pg, worker.claim())
    with sessions.shifted(pg, "59 minutes"):
        assert ask(pg, mode, ttl="1 hour") == (first[0], "duplicate")  # and this does not prolong it
    with sessions.shifted(pg, "61 minutes"):
        assert ask(pg, mode, ttl="1 hour")[1] == "created"


@pytest.mark.parametrize(("mode", "held"), [("window", "23 hours"), ("ttl", "29 days")])
def test_the_times_of_the_seeds_are_the_defaults(
    pg: Connection[Any], worker: WorkerSession, mode: str, held: str
) -> None:
    first = ask(pg, mode)
    sessions.complete(pg, worker.claim())
    with sessions.shifted(pg, held):
        assert ask(pg, mode) == (first[0], "duplicate")


# Replay re-points its key, or names the holder.


@pytest.mark.parametrize(
    ("mode", "ttl"), [("active", None), ("queued", None), ("window", "1 hour"), ("ttl", "1 hour")]
)
def test_a_replay_takes_the_key_with_it(
    pg: Connection[Any], worker: WorkerSession, mode: str, ttl: str | None
) -> None:
    first = ask(pg, mode, ttl=ttl)
    sessions.bury(pg, worker.claim())
    before = sessions.one(pg, "select mode, first_seen_at, expires_at from postmill.idempotency_key")
    ((_, status, new),) = rows(
        pg, "jobs/replay_jobs", [first[0]], "user", None, None, False, False, True, None, False
    )
    assert status == "replayed"
    assert ask(pg, mode, ttl=ttl) == (new, "duplicate")
    assert sessions.one(pg, "select mode, first_seen_at, expires_at from postmill.idempotency_key") == before
    sessions.complete(pg, worker.claim())
    assert ask(pg, mode, ttl=ttl)[1] == ("created" if ttl is None else "duplicate")


def test_a_replay_whose_key_is_somebody_elses_names_him(pg: Connection[Any], worker: WorkerSession) -> None:
    first = ask(pg, "active")
    sessions.bury(pg, worker.claim())
    second = ask(pg, "active")
    assert rows(pg, "jobs/replay_jobs", [first[0]], "user", None, None, False, False, True, None, False) == [
        (first[0], "key_held", second[0])
    ]
    assert sessions.states(pg, [first[0]]) == {first[0]: "dead_letter"}
    sessions.complete(pg, worker.claim())
    ((_, status, new),) = rows(
        pg, "jobs/replay_jobs", [first[0]], "user", None, None, False, False, True, None, False
    )
    assert status == "replayed"
    assert ask(pg) == (new, "duplicate")


# The sweeper forgets keys that can refuse nobody any more, and no others.


def sweep(conn: Connection[Any]) -> set[str]:
    """The keys that are left after a round."""
    rows(conn, "upkeep/sweep", 1000)
    at: tuple[Any, ...] = (None, None, None)
    while found := rows(conn, "upkeep/sweep_keys", *at, 2):
        at = found[0]
    return {key for (key,) in conn.execute("select key from postmill.idempotency_key").fetchall()}


def test_spent_keys_are_swept(database: Database, pg: Connection[Any], worker: WorkerSession) -> None:
    ask(pg, "active", key="ended")
    ask(pg, "queued", key="ended queued")
    ask(pg, "window", key="window", ttl="1 hour")
    sessions.complete(pg, worker.claim())
    ask(pg, "active", key="waits")
    ask(pg, "ttl", key="ttl", ttl="30 days")
    keys = {"ended", "ended queued", "window", "waits", "ttl"}
    assert sweep(pg) == keys
    with sessions.shifted(pg, "2 hours"):
        assert sweep(pg) == keys - {"window"}
    with sessions.shifted(pg, "25 hours"):
        with database.connect() as caller, caller.transaction():
            ask(caller, key="ended")  # about to be re-used: the sweeper waits for nobody
            assert sweep(pg) == {"ended", "waits", "ttl"}
        assert sweep(pg) == {"ended", "waits", "ttl"}
        assert ask(pg, key="waits")[1] == "duplicate"
    with sessions.shifted(pg, "31 days"):
        assert sweep(pg) == {"ended", "waits"}
