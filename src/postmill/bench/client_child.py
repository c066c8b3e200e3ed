"""A client process that enqueues from some threads, each with its connection: `python -m postmill.bench.client_child`.

Modes: `enqueue` (single rows by the public API), `two_rows` (a bare insert instead, by the same kind of connection),
`bulk` (the public `enqueue_many`), `rows_alone` (bare rows that no client sends).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from time import perf_counter
from typing import Any

import psycopg

from postmill.bench import wire
from postmill.bench.jobs import DATA, PAYLOAD, QUEUE, noop
from postmill.client import enqueue, enqueue_many
from postmill.domain.lane import DEFAULT_TENANT
from postmill.store.catalog import sql

WARM_UPS = 10
"""Enqueues before the clock: caches of the session, prepared statements."""

BATCH = 10_000
"""Rows in one call of a bulk enqueue, and in one commit."""

Conn = psycopg.Connection[Any]
Timed = Callable[[], None]


class Client:
    """What the threads of one process do."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._dsn: str = order["dsn"]
        self._schema: str = order["schema"]
        self._mode: str = order["mode"]
        self._threads: int = order["threads"]
        self._jobs: int = order["jobs"]

    def run(self) -> None:
        """Get ready, wait for the parent's go, do it, tell when it began and ended."""
        barrier = Barrier(self._threads + 1)
        with ThreadPoolExecutor(self._threads) as pool:
            futures = [pool.submit(self._thread, barrier) for _ in range(self._threads)]
            with suppress(BrokenBarrierError):  # a thread has failed; its result tells why
                barrier.wait()
                wire.tell(ready=True)
                sys.stdin.buffer.readline()
                barrier.wait()
            times = [future.result() for future in futures]
        wire.tell(ended=True, began=min(t[0] for t in times), done=max(t[1] for t in times))

    def _thread(self, barrier: Barrier) -> tuple[float, float]:
        try:
            return self._timed(barrier)
        except BaseException:
            barrier.abort()
            raise

    def _timed(self, barrier: Barrier) -> tuple[float, float]:
        with psycopg.connect(self._dsn, autocommit=True) as conn:
            make = {
                "enqueue": self._single,
                "two_rows": self._bare,
                "bulk": self._bulk,
                "rows_alone": self._rows,
            }
            timed = make[self._mode](conn)
            barrier.wait()
            barrier.wait()
            began = perf_counter()
            timed()
            return began, perf_counter()

    def _single(self, conn: Conn) -> Timed:
        def timed(times: int = self._jobs) -> None:
            for _ in range(times):
                enqueue(conn, noop.new(data=DATA), schema=self._schema)

        timed(WARM_UPS)
        return timed

    def _bare(self, conn: Conn) -> Timed:
        statement = sql("bench/two_rows", self._schema).encode()
        args = (DEFAULT_TENANT, noop.name, QUEUE, PAYLOAD.decode())

        def timed(times: int = self._jobs) -> None:
            for _ in range(times):
                with psycopg.RawCursor(conn) as cursor:
                    cursor.execute(statement, args).fetchone()

        timed(WARM_UPS)
        return timed

    def _bulk(self, conn: Conn) -> Timed:
        new = [noop.new(data=DATA) for _ in range(self._jobs)]

        def timed() -> None:
            for start in range(0, len(new), BATCH):
                enqueue_many(conn, new[start : start + BATCH], schema=self._schema)

        return timed

    def _rows(self, conn: Conn) -> Timed:
        statement = sql("bench/rows_alone", self._schema).encode()
        args = (DEFAULT_TENANT, noop.name, QUEUE, PAYLOAD.decode())

        def timed() -> None:
            with psycopg.RawCursor(conn) as cursor:
                for start in range(0, self._jobs, BATCH):
                    cursor.execute(statement, (*args, min(BATCH, self._jobs - start)))

        return timed


if __name__ == "__main__":
    Client(wire.order()).run()
