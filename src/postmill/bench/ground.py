"""One schema of a benchmark: filled, settled, paused and opened, counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import psycopg

from postmill import bind
from postmill.bench.case import BenchError
from postmill.bench.jobs import PAYLOAD, QUEUE, REGISTRY, noop_for
from postmill.domain.lane import DEFAULT_TENANT
from postmill.store.catalog import sql
from postmill.store.registration import register_job_types

if TYPE_CHECKING:
    from postmill.bench.place import Place

BATCH = 10_000
HISTORY_BATCH = 100_000
LISTENING_WITHIN = 30.0


@dataclass(frozen=True, slots=True)
class Counts:
    """Where the jobs are; `scheduled` ones are not counted as tickets."""

    tickets: int
    dead: int
    outcomes: int
    bodies: int
    tallied: int


class Ground:
    """A migrated schema in which the job types of the benchmarks are registered."""

    def __init__(self, place: Place, conn: psycopg.Connection[Any], schema: str) -> None:
        self.place = place
        self.conn = conn
        self.schema = schema
        bind.run(conn, register_job_types(REGISTRY, schema=schema))

    def run(self, path: str, *args: object) -> list[tuple[Any, ...]]:
        """Run `sql/<path>.sql`."""
        cursor = self.conn.execute(sql(path, self.schema).encode(), args or None)
        return cursor.fetchall() if cursor.description else []

    def order(self, **more: object) -> dict[str, Any]:
        """What a process of this case has to know."""
        return {"dsn": self.place.dsn, "schema": self.schema, **more}

    def fill(self, jobs: int, *, keep: str = "all", lanes: int = 1, delay: str | None = None) -> None:
        """Enqueue jobs on the server; into many lanes in turn, or due only after `delay`."""
        self.place.progress(f"enqueuing {jobs:,} jobs" + (f" due in {delay}" if delay else ""))
        for start in range(0, jobs, BATCH):
            n = min(BATCH, jobs - start)
            made = self.run("bench/fill", noop_for(keep).name, n, PAYLOAD.decode(), lanes, delay, start)
            if made[0][0] != n:
                raise BenchError(f"{made[0][0]} of {n} jobs were enqueued")

    def fill_history(self, rows: int) -> None:
        """Write finished jobs straight into the tables."""
        self.place.progress(f"writing {rows:,} finished jobs")
        for start in range(0, rows, HISTORY_BATCH):
            n = min(HISTORY_BATCH, rows - start)
            args = (n, start, rows, DEFAULT_TENANT, noop_for("all").name, QUEUE, PAYLOAD.decode())
            self.run("bench/fill_history", *args)

    def settle(self) -> None:
        """Vacuum, analyze and, where we may, a checkpoint: all parts of a case begin alike."""
        self.run("bench/settle")
        with suppress(psycopg.errors.InsufficientPrivilege):
            self.run("bench/checkpoint")

    def pause(self) -> None:
        """Close the queue, so that workers can start and wait."""
        self.run("queues/pause_queue", QUEUE, "benchmark", None, "bench")

    def resume(self) -> None:
        """Open it."""
        self.run("queues/resume_queue", QUEUE)

    def await_listeners(self, processes: int) -> None:
        """Wait until so many workers hear notifications: one that comes before is not heard."""
        until = monotonic() + LISTENING_WITHIN
        while self.run("bench/listeners", self.schema)[0][0] < processes:
            if monotonic() > until:
                raise BenchError(f"the workers do not listen within {LISTENING_WITHIN:.0f} s")
            sleep(0.005)

    def counts(self) -> Counts:
        """Where the jobs are now."""
        return Counts(*self.run("bench/counts")[0])

    def wal(self) -> int:
        """Bytes of write-ahead log ever written by this server."""
        return int(self.run("bench/wal_position")[0][0])

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """Hold back vacuum by a transaction that stays open."""
        with self.place.connect() as conn:
            conn.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            with conn.transaction():
                conn.execute(sql("bench/pin", self.schema).encode())
                yield
