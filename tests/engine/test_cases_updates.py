"""Case 53, at the same moment: tickets are changed by SQL (another priority, another due time) while claims, reports and
promotions move them. An update is refused, for it would leave a ticket in two places; a change is a delete and an insert
in one statement, and whoever comes second finds the ticket gone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from tests.support import sessions
from tests.support.databases import Database
from tests.support.eventually import eventually
from tests.support.invariants import invariants
from tests.support.sessions import WorkerSession


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module: its tests are many and small."""
    return emptied


ROUNDS = 60
COLUMNS = {
    "ready": "queue, lane, priority, ready_at, id, attempt, run, lost",
    "scheduled": "queue, lane, run_at, id, priority, attempt, run, lost",
}


@contextmanager
def changing(database: Database, table: str) -> Iterator[None]:
    """Somebody changes every ticket of the table, over and over."""
    columns = COLUMNS[table]
    change = f"""with gone as (delete from postmill.{table} where id = any (array(
                     select id from postmill.{table} order by id for update skip locked)) returning {columns})
                 insert into postmill.{table} ({columns}) select {columns} from gone"""
    done, broken = threading.Event(), list[psycopg.Error]()

    def update() -> None:
        with database.connect() as conn:
            conn.execute("set synchronous_commit = off")
            while not done.is_set():
                try:
                    conn.execute(change.encode())
                except psycopg.Error as error:
                    broken.append(error)

    thread = threading.Thread(target=update)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    assert not broken


def around(conn: Connection[Any], worker: WorkerSession) -> None:
    """Claimed and given back."""
    if held := worker.claim(20):
        assert not sessions.put_back(conn, held, None, -1.0)


def through(conn: Connection[Any], worker: WorkerSession) -> None:
    """Claimed, tried, due again at once, promoted."""
    if held := worker.claim(20):
        assert not sessions.put_back(conn, held, "failed", 0.0)
    sessions.promote(conn)


def to_the_end(conn: Connection[Any], worker: WorkerSession) -> None:
    """Claimed and completed; others come after."""
    if held := worker.claim(20):
        assert not sessions.complete(conn, held[:10])
        assert not held[10:] or not sessions.bury(conn, held[10:])
    conn.execute("select postmill.enqueue('plain') from generate_series(1, 5)")


@pytest.mark.parametrize("table", ["ready", "scheduled"])
@pytest.mark.parametrize("turn", [around, through, to_the_end])
def test_changes_beside_everything(
    database: Database,
    pg: Connection[Any],
    turn: Callable[[Connection[Any], WorkerSession], None],
    table: str,
) -> None:
    pg.execute("set synchronous_commit = off")
    pg.execute("""select * from postmill.register_job_types('[{"key": "plain", "max_attempts": 100000}]')""")
    pg.execute("select postmill.enqueue('plain') from generate_series(1, 60)")
    worker = WorkerSession(pg)
    with changing(database, table):
        for _ in range(ROUNDS):
            turn(pg, worker)
        invariants(pg)

    def over() -> bool:
        sessions.promote(pg)
        held = worker.claim(100)
        assert not held or not sessions.complete(pg, held)
        return not held

    eventually(over)
    assert sessions.one(pg, "select count(*) from postmill.running") == 0
    invariants(pg)


@pytest.mark.parametrize("table", ["ready", "scheduled", "blocked", "running"])
def test_an_update_is_refused(pg: Connection[Any], table: str) -> None:
    with pytest.raises(psycopg.errors.RestrictViolation, match="delete it and insert the changed one"):
        pg.execute(f"update postmill.{table} set lost = lost".encode())
