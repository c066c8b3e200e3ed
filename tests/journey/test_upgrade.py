"""Case 95: the package as it was before the last migration works on while `postmill migrate` runs, and after it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

import postmill
from postmill import Client
from postmill.domain.errors import SchemaTooNew
from postmill.domain.job import NewJob
from postmill.schema.check import check
from postmill.schema.runner import migrate
from tests.support.databases import Database
from tests.support.eventually import eventually
from tests.support.fleet import Fleet, fleet
from tests.support.invariants import invariants
from tests.support.previous import Previous, Programs

JOBS = '''
import postmill
from postmill import Context, job


@job(max_attempts=20)
async def step(ctx: Context, n: int) -> None:
    """The effect and the success are one commit."""
    async with ctx.transaction() as tx:
        await tx.execute("insert into effect values (%s, %s, clock_timestamp())", (n, postmill.__file__))
'''


@dataclass
class Shop:
    """A database that is upgraded while an application of the version before works on it."""

    previous: Previous
    folder: Path
    dsn: str
    conn: psycopg.Connection[Any]
    new: Fleet
    old: Programs

    def one(self, sql: str, *args: Any) -> Any:
        row = self.conn.execute(sql, args).fetchone()
        assert row is not None
        return row[0]

    def worker(self) -> int:
        """One of the version before."""
        return self.old.start("run", "worker", "jobs.py")

    def producer(self, pace: float) -> int:
        """A client of the version before; ends once the file `stop` is there."""
        return self.old.start("producer", "stop", str(pace))

    def newcomer(self) -> None:
        """A worker of this version."""
        self.new.start("--queues", "default=10", module=str(self.folder / "jobs.py"))

    def effects(self, of: Path) -> int:
        """How many jobs were run by the code in this folder."""
        return int(self.one("select count(*) from effect where by like %s", f"{of}%"))

    def flows(self, of: Path, more: int = 10) -> None:
        """Wait until code in this folder has run some more."""
        before = self.effects(of)
        eventually(
            lambda: self.effects(of) >= before + more,
            60,
            f"{more} more jobs run by {of}: {self.said()[-2000:]}",
        )

    def said(self) -> str:
        return (self.folder / "old.log").read_text()

    def longest_pause(self) -> float:
        """Seconds in which no job ended."""
        sql = "select max(gap) from (select at - lag(at) over (order by at) gap from effect) x"
        return float(self.one(f"select extract(epoch from ({sql}))"))

    def settled(self) -> None:
        """All that was enqueued has run, once each."""
        made = int(self.said().rpartition("made ")[2].split()[0])
        eventually(lambda: self.one("select count(*) from effect") >= made, 60, "every job's end")
        assert self.conn.execute("select count(*), count(distinct n) from effect").fetchone() == (made, made)
        eventually(
            lambda: self.one("select count(*) from postmill.outcome where status = 'succeeded'") == made
        )
        assert self.one("select count(*) from postmill.attempt where status <> 'succeeded'") == 0
        invariants(self.conn, lease_seconds=3)


HERE = Path(postmill.__file__).parent


@pytest.fixture
def shop(empty_database: Database, tmp_path: Path) -> Iterator[Shop]:
    previous = Previous(tmp_path)
    migrate(empty_database.dsn, migrations=previous.known)
    (tmp_path / "jobs.py").write_text(JOBS)
    with ExitStack() as stack:
        conn = stack.enter_context(empty_database.connect())
        conn.execute("create table effect (n int, by text, at timestamptz)")
        log = stack.enter_context((tmp_path / "old.log").open("wb"))
        new = stack.enter_context(fleet(empty_database.dsn, tmp_path / "new.log"))
        env = {"POSTMILL_DATABASE_URL": empty_database.dsn, "POSTMILL_WORKER__LEASE": "3s"}
        old = Programs(previous, tmp_path, env, log)
        stack.callback(old.close)
        yield Shop(previous, tmp_path, empty_database.dsn, conn, new, old)


def upgraded(shop: Shop, workers: int, pace: float, seconds: float) -> None:
    """The whole way: old ones work, the schema changes under them, new ones come, old ones go."""
    old = [shop.worker() for _ in range(workers)]
    eventually(lambda: shop.one("select to_regclass('postmill.worker') is not null"))
    sessions = "select count(*) from postmill.lease"
    eventually(lambda: shop.one(sessions) >= workers, 60, f"old workers: {shop.said()}")
    producer = shop.producer(pace)
    shop.flows(shop.previous.source)
    assert [m.version for m in migrate(shop.dsn)] == [m.version for m in check(shop.conn).applied or ()][
        len(shop.previous.known) :
    ]
    # On the new schema: enqueued, claimed, run and reported by code that has never heard of it.
    shop.flows(shop.previous.source)
    time.sleep(seconds)
    shop.newcomer()
    shop.flows(HERE)
    for pid in old:
        os.kill(pid, signal.SIGTERM)
    assert [shop.old.wait(pid) for pid in old] == [0] * workers, shop.said()
    shop.flows(HERE)
    (shop.folder / "stop").touch()
    assert shop.old.wait(producer) == 0, shop.said()
    shop.settled()


def test_the_version_before_works_on_while_the_schema_changes(shop: Shop) -> None:
    upgraded(shop, workers=1, pace=0.01, seconds=0)


def test_what_is_breaking_keeps_older_code_out(database: Database, tmp_path: Path) -> None:
    """And it says why: a worker when it starts, a client at its first use."""
    with database.connect() as conn:
        conn.execute("insert into postmill.migration values (999, 'later', true, 'x', postmill.now())")
    with fleet(database.dsn, tmp_path / "log") as workers:
        assert workers.start("--queues", "default=1").wait(60) == 4
    assert "breaking change 0999_later: upgrade Postmill" in (tmp_path / "log").read_text()
    with Client(database.dsn) as client, pytest.raises(SchemaTooNew, match="0999_later: upgrade Postmill"):
        client.enqueue(NewJob("step", b'{"n": 1}'))


@pytest.mark.long
def test_four_workers_while_a_client_enqueues_without_a_pause(shop: Shop) -> None:
    upgraded(shop, workers=4, pace=0, seconds=20)
    rate = shop.one("select count(*) / extract(epoch from max(at) - min(at)) from effect")
    print(f"{rate:.0f} jobs/s, longest pause {shop.longest_pause():.2f} s")  # noqa: T201
    assert shop.longest_pause() < 5
    # Back to the version before, and forward again.
    (shop.folder / "stop").unlink()
    again = shop.worker()
    eventually(lambda: shop.one("select count(*) from postmill.lease") == 2, 60, "an old and a new one")
    shop.new.workers[0].end()
    shop.conn.execute("select postmill.enqueue('step', '{\"n\": -1}')")
    eventually(lambda: shop.one("select count(*) from effect where n = -1") == 1, what=shop.said()[-2000:])
    os.kill(again, signal.SIGTERM)
    assert shop.old.wait(again) == 0
