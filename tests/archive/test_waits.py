"""Taking a partition out makes no writer wait: PostgreSQL itself fails who waits for a lock for longer than 100 ms."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from postmill.local.server import LocalServer
from tests.archive.support import keeping, settings
from tests.support import sessions
from tests.support.databases import Database, fresh_database
from tests.support.invariants import invariants
from tests.support.sessions import WorkerSession

MOST = 100  # milliseconds that a writer may wait for a lock


@dataclass
class Writers:
    """Connections that enqueue, claim and complete as fast as they can."""

    dsn: str
    slowest: list[float] = field(default_factory=list)
    jobs: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    faults: list[str] = field(default_factory=list)

    def write(self) -> None:
        try:
            with psycopg.connect(self.dsn, autocommit=True) as conn:
                conn.execute(f"set lock_timeout = {MOST}")
                worker = WorkerSession(conn, lease=1e6)
                while not self.stop.is_set():
                    began = time.perf_counter()
                    conn.execute("select postmill.enqueue('plain') from generate_series(1, 20)")
                    middle = time.perf_counter()
                    if held := worker.claim(20):
                        sessions.complete(conn, held)
                    self.slowest += [middle - began, time.perf_counter() - middle]
                    self.jobs += 20
        except psycopg.Error as fault:
            self.faults.append(str(fault))

    def __enter__(self) -> Writers:
        self.threads = [threading.Thread(target=self.write) for _ in range(4)]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join()


def filled(conn: psycopg.Connection[Any], weeks: int, rows: int) -> None:
    """Weeks of history, `rows` jobs in each, and in each one that still waits."""
    conn.execute("""select * from postmill.register_job_types('[{"key": "plain"}]')""")
    conn.execute("select postmill.ensure_partitions(postmill.now() - %s * interval '7 days')", [weeks + 5])
    for week in range(weeks):
        with sessions.shifted(conn, f"-{(week + 6) * 7} days"):
            sessions.one(conn, "select postmill.ensure_partitions(postmill.now())")
            conn.execute("select postmill.enqueue('plain', delay => '10 years')")
            conn.execute(
                """with made as (
                       select (left(postmill.id_at(postmill.now())::text, 13) || '-7000-8000-'
                               || lpad(to_hex(n), 12, '0'))::uuid as id from generate_series(1, %s) n
                   ), bodies as (
                       insert into postmill.job (id, tenant_id, job_type, queue, payload, priority, max_attempts, created_at)
                       select m.id, '00000000-0000-0000-0000-000000000001', 'plain', 'default',
                              jsonb_build_object('text', repeat('x', 100)), 100, 5, postmill.now() from made m
                   )
                   insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost)
                   select m.id, '00000000-0000-0000-0000-000000000001', 'succeeded', postmill.now(), 1, 1, 0 from made m""",
                [rows],
            )


async def proof(database: Database, to: Path, weeks: int, rows: int, archived: bool) -> dict[str, Any]:
    """Every partition of `weeks` goes while writers write; what was seen. A job that waits in each one survives."""
    with database.connect() as conn:
        filled(conn, weeks, rows)
        waiting = sessions.one(conn, "select count(*) from postmill.scheduled")
        async with keeping(database, settings(f"file://{to}")) as keeper:
            if archived:
                await keeper.archivist.link.rows("archive/here")
            began = time.perf_counter()
            with Writers(database.dsn) as writers:
                await keeper.prune()
                pruned = time.perf_counter() - began
                if archived:
                    await keeper.archive()
            took = time.perf_counter() - began
            assert sessions.one(conn, "select count(*) from postmill.job_kept") == waiting
            assert sessions.one(conn, "select count(*) from postmill.scheduled") == waiting
            old = "select count(*) from postmill.outcome where finished_at < postmill.now() - interval '38 days'"
            assert sessions.one(conn, old) == 0
            if archived:
                assert len(keeper.lines("job")) == weeks * rows
            invariants(conn, lease_seconds=1e9)
    return {
        "rows": 2 * weeks * rows, "pruned": round(pruned, 2), "took": round(took, 2), "jobs": writers.jobs,
        "slowest": round(max(writers.slowest), 3), "statements": len(writers.slowest), "faults": writers.faults,
    }  # fmt: skip


async def test_no_writer_waits(cluster: LocalServer, template: str, tmp_path: Path) -> None:
    """On a machine so busy that whoever has the lock is not run for a tenth of a second, once more, in a new database: what
    was dropped does not come back."""
    for attempt in ("a", "b", "c"):
        with fresh_database(cluster, template) as database:
            seen = await proof(database, tmp_path / attempt, weeks=2, rows=2000, archived=True)
        assert seen["jobs"] > 0
        if not seen["faults"]:
            return
    pytest.fail(f"writers waited: {seen}")


@pytest.mark.long
@pytest.mark.parametrize(("weeks", "rows", "archived"), [(8, 250_000, False), (4, 100_000, True)])
async def test_no_writer_waits_with_much_history(
    database: Database,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    weeks: int,
    rows: int,
    archived: bool,
) -> None:
    seen = await proof(database, tmp_path / "a", weeks, rows, archived)
    with capsys.disabled():
        sys.stdout.write(f"{seen}\n")
    assert seen["faults"] == []
