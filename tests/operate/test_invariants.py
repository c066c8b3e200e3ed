"""The checker finds each kind of violation, and finds nothing in a healthy database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from postmill.domain.lifecycle import State
from postmill.operate.invariants import acheck, check
from tests.operate.conftest import Bench
from tests.support.databases import Database
from tests.support.tickets import changed

TICKET = "queue, lane, priority, ready_at, id, attempt, run, lost"
AGAIN = f"insert into postmill.ready ({TICKET}) select 'default', lane, priority, now(), id, 1, 0, 0 from postmill"
OUTCOME = (
    "insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost)"
    " select job_id, tenant_id, 'failed', now(), 1, 1, 0 from postmill.outcome"
)
LONG_AGO = "now() - interval '3 minutes'"


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module: its tests are many and small."""
    return emptied


def test_a_healthy_database_has_none(bench: Bench) -> None:
    for state in State:
        bench.make(state)
    assert check(bench.conn) == []


@pytest.mark.parametrize(
    ("state", "kind", "harm"),
    [
        (State.QUEUED, "lost", "delete from postmill.ready"),
        (State.RUNNING, "lost", "delete from postmill.running"),
        (State.SUCCEEDED, "lost", "delete from postmill.outcome"),
        (State.RUNNING, "two_places", f"{AGAIN}.running"),
        (State.SCHEDULED, "two_places", f"{AGAIN}.scheduled"),
        (State.DEAD_LETTER, "two_places", f"{AGAIN}.dead_letter"),
        (State.SUCCEEDED, "two_outcomes", OUTCOME),
        (State.QUEUED, "no_body", "delete from postmill.job"),
        (State.DEAD_LETTER, "no_body", "delete from postmill.job"),
        (State.RUNNING, "ghost", f"update postmill.lease set expires_at = {LONG_AGO}"),
        (
            State.RUNNING,
            "ghost",
            "delete from postmill.lease; "
            + changed("running", f"jsonb_build_object('claimed_at', {LONG_AGO})", "true"),
        ),
        (
            State.SUCCEEDED,
            "stale_cancel",
            f"insert into postmill.cancel_request select job_id, {LONG_AGO}, 'user' from postmill.outcome",
        ),
    ],
)
def test_each_harm_is_found(bench: Bench, state: State, kind: str, harm: str) -> None:
    id = bench.make(state)
    other = bench.make(State.QUEUED) if state is not State.QUEUED else None
    bench.conn.execute(harm)
    found = check(bench.conn)
    assert (kind, id) in [(violation.kind, violation.job_id) for violation in found]
    if other is not None and "job" not in harm.split()[-1]:
        assert other not in [violation.job_id for violation in found]


def test_an_undecodable_letter_may_have_no_body(bench: Bench) -> None:
    bench.make(State.DEAD_LETTER)
    bench.conn.execute("update postmill.dead_letter set reason = 'undecodable'")
    bench.conn.execute("delete from postmill.job")
    assert check(bench.conn) == []


async def test_only_jobs_since_a_moment(bench: Bench, database: Database) -> None:
    bench.make(State.QUEUED)
    bench.conn.execute("delete from postmill.ready")
    later = datetime.now(UTC) + timedelta(seconds=1)
    assert len(check(bench.conn)) == 1
    assert check(bench.conn, since=later) == []
    assert len(check(bench.conn, most=0)) == 0
    async with await database.aconnect() as conn:
        assert len(await acheck(conn)) == 1
