"""Keys whose job type names what makes their content: other content under a held key supersedes what waits (seed 4)."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from tests.support import sessions
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.sessions import WorkerSession, rows

pytestmark = pytest.mark.matrix

TYPE = {
    "key": "embed",
    "max_attempts": 2,
    "idempotency": "window",
    "idempotency_ttl": "24 hours",
    "idempotency_content": ["text", "title"],
}


def ask(conn: Connection[Any], text: str, *, note: str = "", mode: str | None = None) -> tuple[UUID, bool]:
    """Enqueue under the key with this text; id, and whether a job was made. `note` is no part of the content."""
    row = conn.execute(
        "select id, status from postmill.enqueue_many('{embed}', array[%s::jsonb], p_keys => '{k}', p_modes => array[%s])",
        (json.dumps({"text": text, "note": note}), mode),
    ).fetchone()
    assert row is not None
    assert row[1] in ("created", "duplicate")
    return row[0], row[1] == "created"


def state(conn: Connection[Any], job: UUID) -> Any:
    return conn.execute("select status from postmill.jobs where id = %s", [job]).fetchone()


def test_other_content_supersedes_what_waits_and_lets_run_what_runs(
    database: Database, pg: Connection[Any]
) -> None:
    pg.execute("select * from postmill.register_job_types(%s)", [json.dumps([TYPE])])
    worker = WorkerSession(pg)
    first, made = ask(pg, "a")
    assert made
    assert ask(pg, "a", note="not part of it") == (first, False)
    second, made = ask(pg, "b")
    assert made
    ended = "select status, reason, attempt from postmill.outcome where job_id = %s"
    assert pg.execute(ended, [first]).fetchone() == ("canceled", f"superseded by {second}", 0)
    assert ask(pg, "b") == (second, False)

    # It runs: both are there, and the key is the new one's.
    (held,) = worker.claim()
    assert held.id == second
    third, made = ask(pg, "c")
    assert made
    assert state(pg, second) == ("running",)
    assert ask(pg, "c") == (third, False)

    # One that waits for its next attempt and has lost its key stays; one that has it makes way.
    sessions.put_back(pg, [held], "failed", 60.0)
    (held,) = worker.claim()
    sessions.put_back(pg, [held], "failed", 60.0)
    fourth, made = ask(pg, "a")
    assert made
    assert (state(pg, second), state(pg, third)) == (("queued",), ("canceled",))

    # Beside a claim that is not committed it may have begun: nobody waits for it, nobody cancels it.
    with database.connect() as claiming, claiming.transaction():
        claiming.execute("select from postmill.ready for update")
        fifth, made = ask(pg, "e")
        assert made
    assert {line.id for line in worker.claim()} == {fourth, fifth}
    assert state(pg, fourth) == ("running",)

    # After the window the same content is new work; in every mode content tells jobs apart.
    assert ask(pg, "e") == (fifth, False)
    pg.execute("set postmill.clock_offset = '25 hours'")
    sixth, made = ask(pg, "e", mode="active")
    assert made
    seventh, made = ask(pg, "f", mode="active")
    assert (made, state(pg, sixth)) == (True, ("canceled",))
    assert ask(pg, "f") == (seventh, False)
    pg.execute("reset postmill.clock_offset")
    invariants(pg, lease_seconds=1e9)


def test_a_replay_brings_old_content_and_supersedes_nobody(pg: Connection[Any]) -> None:
    pg.execute("select * from postmill.register_job_types(%s)", [json.dumps([TYPE])])
    worker = WorkerSession(pg)
    old, _ = ask(pg, "a")
    sessions.bury(pg, worker.claim())
    assert ask(pg, "a") == (old, False), "the window holds, whatever became of the job"
    new, _ = ask(pg, "b")
    [(_, status, holder)] = rows(pg, "jobs/replay_jobs", [old], "user", None, None, *[False] * 3, None, False)
    assert (status, holder, state(pg, new)) == ("key_held", new, ("queued",))

    # A letter that has the key: with another payload the key has other content.
    sessions.bury(pg, worker.claim())
    again = json.dumps({"text": "c"})
    [(_, status, replay)] = rows(
        pg, "jobs/replay_jobs", [new], "user", None, again, *[False] * 3, None, False
    )
    assert status == "replayed"
    assert ask(pg, "c") == (replay, False)
    last, made = ask(pg, "b")
    assert (made, state(pg, replay), state(pg, last)) == (True, ("canceled",), ("queued",))
    invariants(pg, lease_seconds=1e9)
