"""Renews the lease from a thread with a connection of its own, so that no handler on the loop can cost it.

The same round brings cancel requests, what is paused and what an operator asks, and watches the loop itself. A handler
that holds Python's global lock for longer than the lease (a catastrophic regular expression, say) stops this thread too:
such work belongs into a process of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Collection
from time import monotonic, time
from typing import Any

import psycopg

from postmill.engine.database import Backoff, connect_blocking
from postmill.engine.session import Session
from postmill.engine.standing import Standing
from postmill.store.catalog import sql
from postmill.telemetry.counters import Counters

Told = Callable[[list[tuple[bytes, str]], frozenset[str], frozenset[str], str | None], None]


class Lessor:
    """Started per session. All callbacks are run on the loop.

    `told(cancel_requests, paused_queues, paused_types, asked)` after each round; `lost(session)` when the lease
    is over;
    `blocked(seconds, task)` is called in this thread: the loop did not turn for so long, and task was running.
    """

    def __init__(
        self,
        dsn: str,
        schema: str,
        session: Session,
        queues: Collection[str],
        counters: Counters,
        standing: Callable[[], Standing],
        told: Told,
        lost: Callable[[Session, str], None],
        blocked: Callable[[float, Any], None],
        *,
        prepared: bool = True,
    ) -> None:
        self._dsn = dsn
        self._schema = schema
        self._prepared = prepared
        self._session = session
        self._queues = queues
        self._counters = counters
        self._standing = standing
        self._told = told
        self._lost = lost
        self._blocked = blocked
        self._loop = asyncio.get_running_loop()
        self._stop = threading.Event()
        self._poke = threading.Event()
        self._turned_at = monotonic()
        self._blocked_told = False
        self._thread = threading.Thread(target=self._run, name="postmill-lease", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def poke(self) -> None:
        """Do a round now: there is a cancel request or a pause."""
        self._poke.set()

    def stop(self) -> None:
        self._stop.set()
        self._poke.set()

    async def joined(self) -> None:
        await asyncio.to_thread(self._thread.join, 5)

    def _run(self) -> None:
        """Rounds every third of the lease; in between the loop is watched."""
        connection: psycopg.Connection[Any] | None = None
        backoff = Backoff(most=min(2.0, self._session.lease / 6))
        due = monotonic()
        beat = min(1.0, self._session.lease / 6)
        while not self._stop.is_set():
            moment = monotonic()
            if moment >= due or self._poke.is_set():
                self._poke.clear()
                due = moment + self._session.lease / 3
                try:
                    if connection is None:
                        connection = connect_blocking(self._dsn, "lease", prepared=self._prepared)
                    if not self._round(connection):
                        self._call(self._lost, self._session, "it had expired on the server")
                        break
                    backoff.reset()
                except (psycopg.Error, OSError):
                    due = monotonic() + backoff.delay()
                    if connection is not None:
                        with contextlib.suppress(Exception):
                            connection.close()
                        connection = None
            if self._session.expired:
                self._call(self._lost, self._session, "it could not be renewed in time")
                break
            self._watch()
            self._poke.wait(max(0.01, min(beat, due - monotonic())))
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.close()

    def _round(self, connection: psycopg.Connection[Any]) -> bool:
        sent = monotonic()
        standing = self._standing()
        session = self._session
        args: list[Any] = [session.holder, session.lease, standing.running, standing.draining]
        row = connection.execute(sql("leases/renew", self._schema).encode(), args).fetchone()
        if row is None or not row[0]:
            return False
        session.renewed_at = sent
        self._counters.lease_renewals += 1
        rows = (
            connection.cursor(binary=True)
            .execute(sql("leases/cancel_requests", self._schema).encode())
            .fetchall()
        )
        requests = [(bytes(id), reason or "") for id, reason in rows]
        paused = connection.execute(
            sql("leases/paused", self._schema).encode(), [list(self._queues)]
        ).fetchall()
        queues = frozenset(name for queue, name in paused if queue)
        types = frozenset(name for queue, name in paused if not queue)
        said = [session.holder, time(), standing.full, standing.draining, json.dumps(standing.report)]
        asked = connection.execute(sql("workers/report", self._schema).encode(), said).fetchone()
        self._call(self._told, requests, queues, types, asked[0] if asked else None)
        return True

    def _watch(self) -> None:
        """Has the loop turned since the last look? Tell once per blockage what runs on it."""
        moment = monotonic()
        behind = moment - self._turned_at
        threshold = max(1.0, self._session.lease / 3)
        if behind > threshold and not self._blocked_told:
            self._blocked_told = True
            with contextlib.suppress(RuntimeError):
                self._blocked(behind, asyncio.current_task(self._loop))
        self._call(self._turned)

    def _turned(self) -> None:
        self._turned_at = monotonic()
        self._blocked_told = False

    def _call(self, function: Callable[..., None], *args: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function, *args)
