"""LISTEN on a connection of its own: a hint that there is work, watched for silence.

A half-open socket looks like a quiet night, so every few seconds the listener sends itself a notification and waits
for it to come round. Nothing else ever runs on this connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Callable
from time import monotonic
from typing import Any

import psycopg
from psycopg import AsyncConnection, Notify

from postmill.engine.database import Backoff, connect
from postmill.store.catalog import sql
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import ListenerLost, ListenerRestored

_ANSWER_WITHIN = 5.0  # seconds for the round trip of a probe


class Listener:
    """Calls `heard(payload)` on the loop for each notification, and `state(listening)` when that changes."""

    def __init__(
        self,
        dsn: str,
        schema: str,
        heard: Callable[[str], None],
        state: Callable[[bool], None],
        bus: Bus,
        counters: Counters,
        *,
        probe_every: float = 10.0,
    ) -> None:
        self._dsn = dsn
        self._schema = schema
        self._heard = heard
        self._state = state
        self._bus = bus
        self._counters = counters
        self._probe_every = probe_every
        self._probe = f"?{uuid.uuid4()}"
        self._answered = asyncio.Event()
        self._lost_at: float | None = None

    async def run(self) -> None:
        """Until cancelled: listen, and after a loss listen again."""
        backoff = Backoff()
        while True:
            connection: AsyncConnection[Any] | None = None
            try:
                connection = await connect(self._dsn, "listener", prepared=False)
                await self._listen(connection, backoff)
            except (psycopg.Error, OSError, TimeoutError) as error:
                delay = backoff.delay()
                if self._lost_at is None:
                    self._lost_at = monotonic()
                    self._state(False)
                    text = str(error).strip().split("\n", 1)[0] or type(error).__name__
                    self._bus.emit(ListenerLost(self._counters.worker_id, text, delay))
                await asyncio.sleep(delay)
            finally:
                if connection is not None:
                    await _shut(connection)

    async def _listen(self, connection: AsyncConnection[Any], backoff: Backoff) -> None:
        connection.add_notify_handler(self._notified)
        async with asyncio.timeout(_ANSWER_WITHIN):
            await connection.execute(f"listen {self._schema}".encode())
        await self._round_trip(connection)
        if self._lost_at is not None:
            self._bus.emit(ListenerRestored(self._counters.worker_id, monotonic() - self._lost_at))
            self._counters.reconnects += 1
            self._lost_at = None
        backoff.reset()
        self._state(True)
        while True:
            await self._wait(connection, self._probe_every)
            await self._round_trip(connection)

    async def _wait(self, connection: AsyncConnection[Any], seconds: float) -> None:
        """Read notifications as they come, straight off the socket."""
        loop = asyncio.get_running_loop()
        broken: asyncio.Future[None] = loop.create_future()
        pgconn = connection.pgconn

        def readable() -> None:
            try:
                pgconn.consume_input()
                while (notify := pgconn.notifies()) is not None:
                    self._take(notify.extra.decode(errors="replace"))
            except psycopg.Error as error:
                if not broken.done():
                    broken.set_exception(error)

        readable()
        loop.add_reader(pgconn.socket, readable)
        # Not wait_for: before Python 3.12 it can swallow the cancellation that ends this loop.
        try:
            async with asyncio.timeout(seconds):
                await broken
        except TimeoutError:
            pass
        finally:
            loop.remove_reader(pgconn.socket)

    async def _round_trip(self, connection: AsyncConnection[Any]) -> None:
        """Raises TimeoutError if a notification to ourselves does not come back."""
        self._answered.clear()
        statement = sql("doorbell/probe", self._schema).encode()
        async with asyncio.timeout(_ANSWER_WITHIN):
            await connection.execute(statement, [self._probe])
        deadline = monotonic() + _ANSWER_WITHIN
        while not self._answered.is_set():
            if monotonic() > deadline:
                raise TimeoutError("the listener hears nothing: its own notification did not come back")
            await self._wait(connection, 0.05)

    def _notified(self, notify: Notify) -> None:
        self._take(notify.payload)

    def _take(self, payload: str) -> None:
        if payload.startswith("?"):
            if payload == self._probe:
                self._answered.set()
            return
        self._counters.notified(self._schema)
        self._heard(payload)


async def _shut(connection: AsyncConnection[Any]) -> None:
    with contextlib.suppress(Exception):
        await asyncio.wait_for(connection.close(), 2)
