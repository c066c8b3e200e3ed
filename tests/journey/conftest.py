"""What every journey shares: a probed database, a fleet of worker processes, and the invariants at the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from postmill.local.server import LocalServer
from tests.journey import handlers
from tests.support.databases import Database
from tests.support.eventually import eventually
from tests.support.fleet import Fleet, fleet
from tests.support.invariants import invariants

LEASE = 3.0


class Journey:
    """A database with a probe, and workers on it."""

    def __init__(self, dsn: str, workers: Fleet) -> None:
        self.dsn = dsn
        self.fleet = workers
        self.conn = psycopg.connect(dsn, autocommit=True)
        self.conn.execute(handlers.SCHEMA)
        self.conn.execute("create table if not exists effect (job_id uuid)")
        self.conn.execute(handlers.REGISTER)

    def again(self) -> None:
        """A new connection, after the server went away."""
        self.conn.close()
        self.conn = psycopg.connect(self.dsn, autocommit=True)

    def one(self, sql: str, *args: Any) -> Any:
        row = self.conn.execute(sql, args).fetchone()
        assert row is not None
        return row[0] if len(row) == 1 else row

    def all(self, sql: str, *args: Any) -> list[Any]:
        return self.conn.execute(sql, args).fetchall()

    def enqueue(self, job_type: str, n: int = 1, payload: str = "{}") -> None:
        self.conn.execute(
            "select postmill.enqueue(%s, %s::jsonb) from generate_series(1, %s)", (job_type, payload, n)
        )

    def settled(self) -> bool:
        """Is every job at its end?"""
        return bool(
            self.one(
                """select (select count(*) from postmill.any_job)
                        = (select count(*) from postmill.outcome) + (select count(*) from postmill.dead_letter)"""
            )
        )

    def finish(self, seconds: float = 60.0) -> None:
        """Wait for the end of everything, then look for what must never be."""
        eventually(self.settled, seconds, "every job at its end")
        invariants(self.conn, lease_seconds=LEASE)

    def more_workers(self, than: int) -> bool:
        return bool(self.one("select count(*) from postmill.worker") > than)

    def count(self, event: str) -> int:
        return int(self.one("select count(*) from probe where event = %s", event))

    def outcomes(self) -> dict[str, int]:
        rows = self.all(
            "select status, count(*) from (select status from postmill.outcome union all"
            " select 'dead_letter' from postmill.dead_letter) x group by 1"
        )
        return dict(rows)

    def close(self) -> None:
        self.conn.close()


@pytest.fixture
def journey(database: Database, tmp_path: Path) -> Iterator[Journey]:
    """On the shared server."""
    with fleet(database.dsn, tmp_path / "workers.log") as workers:
        made = Journey(database.dsn, workers)
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def own_journey(own_cluster: LocalServer, tmp_path: Path) -> Iterator[Journey]:
    """On a server of its own, to restart and to kill."""
    dsn = own_cluster.dsn()
    with fleet(dsn, tmp_path / "workers.log") as workers:
        made = Journey(dsn, workers)
        try:
            yield made
        finally:
            made.close()
