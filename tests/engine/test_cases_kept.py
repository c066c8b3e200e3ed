"""A job whose body outlived its partition (it waited for longer than history is kept) is a job like any other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from tests.support import sessions
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.sessions import Held, WorkerSession, rows

pytestmark = pytest.mark.matrix


class Kept:
    """Two workers' sessions, one of them old enough to rescue; jobs whose body was moved by the pruner."""

    def __init__(self, conn: Connection[Any]) -> None:
        self.conn = conn
        conn.execute(
            """select * from postmill.register_job_types(
                   '[{"key": "plain"}, {"key": "brief", "keep": "failures"}]')"""
        )
        self.worker = WorkerSession(conn)
        self.rescuer = WorkerSession(conn, age=100)

    def enqueue(self, job_type: str = "plain", tenant: UUID = sessions.DEFAULT_TENANT) -> UUID:
        id = UUID(str(sessions.one(self.conn, "select postmill.enqueue(%s, tenant => %s)", job_type, tenant)))
        self.conn.execute(
            """with gone as (delete from postmill.job where id = %s returning *)
               insert into postmill.job_kept select * from gone""",
            [id],
        )
        return id

    def claim(self) -> Held:
        (held,) = self.worker.claim()
        return held


@pytest.fixture
def kept(database: Database) -> Iterator[Kept]:
    with database.connect() as conn:
        yield Kept(conn)
        invariants(conn, lease_seconds=1e9)


def test_a_rescue_finds_its_body(kept: Kept) -> None:
    tenant = UUID(int=77)
    id = kept.enqueue(tenant=tenant)
    kept.claim()
    kept.worker.die()
    assert kept.rescuer.rescue() == {id: "scheduled"}
    assert sessions.one(kept.conn, "select tenant_id from postmill.attempt") == tenant


def test_a_success_that_is_not_kept_leaves_no_body(kept: Kept) -> None:
    id = kept.enqueue("brief")
    held = kept.claim()
    missed = rows(kept.conn, "report/complete_forgotten", held.holder, [id], [held.claim_no], "brief")
    assert missed == []
    assert sessions.one(kept.conn, "select count(*) from postmill.any_job") == 0


def test_an_operator_can_do_everything(kept: Kept) -> None:
    id = kept.enqueue()
    assert rows(kept.conn, "jobs/discard_jobs", [id], "no") == [(id, "not_dead")]
    sessions.bury(kept.conn, [kept.claim()])
    ((_, status, new),) = rows(
        kept.conn, "jobs/replay_jobs", [id], "user", None, None, False, False, True, None, False
    )
    assert status == "replayed"
    assert sessions.states(kept.conn, [id, new]) == {id: "dead_letter", new: "queued"}
    assert rows(kept.conn, "jobs/replay_jobs", [id], "user", None, None, False, False, True, None, False) == [
        (id, "live", new)
    ]
    assert rows(kept.conn, "jobs/cancel_jobs", [id, new], "user", None, None) == [
        (id, "finished"),
        (new, "canceled"),
    ]


def test_a_replay_that_left_no_trace_is_known_all_the_same(kept: Kept) -> None:
    id = kept.enqueue("brief")
    sessions.bury(kept.conn, [kept.claim()])
    assert (
        rows(kept.conn, "jobs/replay_jobs", [id], "user", None, None, False, False, True, None, False)[0][1]
        == "replayed"
    )
    held = kept.claim()
    assert (
        rows(kept.conn, "report/complete_forgotten", held.holder, [held.id], [held.claim_no], "brief") == []
    )
    again = rows(kept.conn, "jobs/replay_jobs", [id], "user", None, None, False, False, True, None, False)
    assert again == [(id, "already_replayed", None)]
    assert (
        rows(kept.conn, "jobs/replay_jobs", [id], "user", None, None, True, False, True, None, False)[0][1]
        == "replayed"
    )


def test_a_cancelled_one_keeps_its_tenant(kept: Kept) -> None:
    id = kept.enqueue(tenant=UUID(int=77))
    assert rows(kept.conn, "jobs/cancel_jobs", [id], "user", None, None) == [(id, "canceled")]
    assert sessions.one(kept.conn, "select tenant_id from postmill.outcome") == UUID(int=77)
