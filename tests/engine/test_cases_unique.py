"""Case 37: one job of a key runs and another of the same key waits, as mode `queued` allows; whatever becomes of the first
hits no unique index, blocks nobody and strands nothing, with claims of any size."""

from __future__ import annotations

from collections.abc import Callable
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


OTHERS = 200


def ask(conn: Connection[Any]) -> UUID:
    return UUID(str(sessions.one(conn, "select postmill.enqueue('plain', key => 'k', mode => 'queued')")))


def fails(conn: Connection[Any], worker: WorkerSession, held: Held) -> str:
    assert not sessions.put_back(conn, [held], "failed", 0.0, "E")
    return "failed"


def times_out(conn: Connection[Any], worker: WorkerSession, held: Held) -> str:
    assert not sessions.put_back(conn, [held], "timeout", 0.0)
    return "timeout"


def is_killed_and_swept(conn: Connection[Any], worker: WorkerSession, held: Held) -> str:
    worker.die()
    assert WorkerSession(conn, lease=30, age=100).rescue() == {held.id: "scheduled"}
    return "lost"


def is_retried_from_the_console(conn: Connection[Any], worker: WorkerSession, held: Held) -> str:
    assert rows(conn, "jobs/retry_jobs", [held.id], "user", None, False) == [(held.id, "running", None)]
    assert not sessions.put_back(conn, [held], "failed", 3600.0, "E")
    assert rows(conn, "jobs/retry_jobs", [held.id], "user", None, False) == [(held.id, "due", None)]
    return "failed"


def snoozes(conn: Connection[Any], worker: WorkerSession, held: Held) -> str:
    assert not sessions.put_back(conn, [held], "snoozed", 0.0)
    return "snoozed"


EVENTS: list[Callable[[Connection[Any], WorkerSession, Held], str]] = [
    fails, is_killed_and_swept, times_out, is_retried_from_the_console, snoozes
]  # fmt: skip


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_a_first_and_a_second_of_one_key(
    pg: Connection[Any], event: Callable[[Connection[Any], WorkerSession, Held], str]
) -> None:
    pg.execute("set synchronous_commit = off")
    pg.execute("""select * from postmill.register_job_types('[{"key": "plain"}]')""")
    for batch in (1, 2, 50):
        sessions.wipe(pg)
        worker = WorkerSession(pg)
        first = ask(pg)
        (held,) = worker.claim()
        second = ask(pg)
        assert second != first
        pg.execute("select postmill.enqueue('plain') from generate_series(1, %s)", [OTHERS])
        status = event(pg, worker, held)
        sessions.promote(pg)
        next_one = WorkerSession(pg)
        claims = [next_one.claim(batch) for _ in range(-(-(OTHERS + 2) // batch))]
        found = {line.id: line.attempt for lines in claims for line in lines}
        assert len(found) == OTHERS + 2, "nobody was held up, in no claim too many"
        assert found[first] == (1 if status == "snoozed" else 2)
        assert found[second] == 1
        assert sessions.one(pg, "select array_agg(status::text) from postmill.attempt") == [status]
        for lines in claims:
            assert not sessions.complete(pg, lines)
        assert ask(pg) not in (first, second)
        invariants(pg)
