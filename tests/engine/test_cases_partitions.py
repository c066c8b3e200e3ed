"""Between the ends of the horizon there is a partition for every moment: a clock may step back, or a server may have
been away, and still no enqueue aborts its caller for want of a table."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from psycopg import Connection

from tests.support import sessions
from tests.support.invariants import invariants
from tests.support.sessions import WorkerSession

pytestmark = pytest.mark.matrix


def assert_no_gap(conn: Connection[Any]) -> None:
    since, until = sessions.one(conn, "select since, until from postmill.partition_horizon")
    for parent in ("job", "attempt", "outcome"):
        edges = conn.execute(
            "select since, until from postmill.partition where parent = %s and until > %s order by since",
            [parent, since],
        ).fetchall()
        at: datetime = since
        for begins, ends in edges:
            assert begins <= at, f"no partition of {parent} from {at} to {begins}"
            at = ends
        assert at >= until


def test_a_fresh_database_has_no_gap(pg: Connection[Any]) -> None:
    assert_no_gap(pg)


@pytest.mark.parametrize("away", ["8 days", "40 days", "400 days"])
def test_a_database_left_alone_has_no_gap(pg: Connection[Any], away: str) -> None:
    with sessions.shifted(pg, away):
        sessions.one(pg, "select postmill.ensure_partitions(postmill.now())")
    assert_no_gap(pg)


@pytest.mark.parametrize(
    "back", [timedelta(seconds=10), timedelta(days=6), timedelta(days=13), timedelta(days=50)]
)
@pytest.mark.parametrize("away", ["0", "400 days"])
def test_a_clock_that_steps_back_stops_nobody(pg: Connection[Any], back: timedelta, away: str) -> None:
    """From the first moments of a partition, where the step leads out of it."""
    pg.execute("""select * from postmill.register_job_types('[{"key": "plain"}]')""")
    with sessions.shifted(pg, away):
        sessions.one(pg, "select postmill.ensure_partitions(postmill.now())")
    began = sessions.one(
        pg,
        "select since - now() from postmill.partition where now() + %s::interval >= since order by since desc limit 1",
        away,
    )
    with sessions.shifted(pg, f"{(began - back).total_seconds()} s"):
        pg.execute("select postmill.enqueue('plain'), postmill.enqueue('plain', key => 'k')")
        held = WorkerSession(pg).claim()
        assert len(held) == 2
        assert not sessions.complete(pg, held[:1])
        assert not sessions.put_back(pg, held[1:], "failed", 0.0)
    invariants(pg, lease_seconds=1e9)
