"""Between the ends of the horizon there is a partition for every moment: a clock may step back, or a server may have
been away, and still no enqueue aborts its caller for want of a table."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from psycopg import Connection

from tests.support import sessions
from tests.support.databases import Database
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


def test_without_a_partition_nobody_waits_for_an_open_caller(database: Database, pg: Connection[Any]) -> None:
    """A partition made in the caller's transaction would be locked, and every other enqueue wait, until it ends."""
    pg.execute(
        """select * from postmill.register_job_types('[{"key": "plain"}, {"key": "few", "worker_limit": 1}]')"""
    )
    enqueues = (
        "select postmill.enqueue('plain')",
        "select postmill.enqueue('plain', key => %s)",
        "select postmill.enqueue('few')",
        "select postmill.enqueue('plain', delay => '1 s')",
        "select id from postmill.enqueue_many('{plain,few}', '{\"{}\",\"{}\"}')",
        "select postmill.enqueue_quick('plain', '{}', null)",
    )
    with database.connect() as caller, sessions.shifted(pg, "400 days"), sessions.shifted(caller, "400 days"):
        caller.execute("set lock_timeout = '1 s'")
        pg.execute("set lock_timeout = '1 s'")
        with caller.transaction():
            for n, conn in enumerate((caller, pg)):
                for text in enqueues[:-1]:
                    conn.execute(text.encode(), [f"key {n}"] if "%s" in text else None)
                # The leanest path leaves it to enqueue_one, as where the type is unknown.
                assert sessions.one(conn, enqueues[-1]) is None
            assert sessions.one(pg, "select count(*) from postmill.job_kept") == 6
            # Upkeep makes them meanwhile, and from then on all is as ever.
            sessions.one(pg, "select postmill.ensure_partitions(postmill.now())")
            pg.execute("select postmill.enqueue('plain')")
            caller.execute("select postmill.enqueue('plain')")
        assert sessions.one(pg, "select count(*) from postmill.job_kept") == 12
        assert sessions.one(pg, "select count(*) from postmill.job") == 2
        sessions.one(pg, "select postmill.prune_kept(1000)")
        held = WorkerSession(pg).claim()
        assert len(held) == 12
        assert not sessions.complete(pg, held)
    invariants(pg, lease_seconds=1e9)
    with sessions.shifted(pg, "500 days"):
        while sessions.rows(pg, "upkeep/prune_partition"):
            pass
        sessions.one(pg, "select postmill.prune_kept(1000)")
        waits = "select count(*) from postmill.any_job j join postmill.scheduled s using (id)"
        assert sessions.one(pg, "select count(*) from postmill.any_job") == sessions.one(pg, waits) == 2


def test_the_sessions_time_zone_and_date_style_move_no_edge(database: Database, pg: Connection[Any]) -> None:
    """IST is read as Israel's time, and a week across the end of summer time has an hour more."""
    with database.connect() as odd, sessions.shifted(odd, "400 days"):
        odd.execute("set datestyle = 'SQL, DMY'")
        for zone, until in (("Asia/Kolkata", 430), ("Europe/Berlin", 800)):
            odd.execute("select set_config('timezone', %s, false)", [zone])
            for days in range(400, until, 25):
                odd.execute("select set_config('postmill.clock_offset', %s, false)", [f"{days} days"])
                sessions.one(odd, "select postmill.ensure_partitions(postmill.now())")
    pg.execute("set timezone = 'UTC'")
    edges = pg.execute(
        """select p.since, p.until, pg_get_expr(c.relpartbound, c.oid)
             from postmill.partition p join pg_class c on c.relname = p.name and p.parent = 'outcome'"""
    ).fetchall()
    assert len(edges) > 50
    for since, until, bound in edges:
        assert (
            bound == f"FOR VALUES FROM ('{since:%Y-%m-%d %H:%M:%S}+00') TO ('{until:%Y-%m-%d %H:%M:%S}+00')"
        )
        assert (until - since, since.hour) == (timedelta(days=7), 0)
    assert_no_gap(pg)
