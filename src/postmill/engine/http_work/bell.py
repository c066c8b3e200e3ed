"""One ear for all HTTP workers that wait in this process: LISTEN while somebody waits or waited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from uuid import UUID

from postmill.engine.http_work.board import Board
from postmill.engine.listener import Listener
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters


class Bell:
    """Begins to listen with the first one who waits. Works without, too: then waiting ones look more often."""

    def __init__(
        self,
        dsn: str | None,
        schema: str,
        boards: Callable[[], Iterable[Board]],
        bus: Bus,
        counters: Counters,
    ) -> None:
        self._dsn = dsn
        self._schema = schema
        self._boards = boards
        self._bus = bus
        self._counters = counters
        self._task: asyncio.Task[None] | None = None
        self.listening = False

    def needed(self) -> None:
        """Somebody waits."""
        if self._task is None and self._dsn is not None:
            listener = Listener(self._dsn, self._schema, self.heard, self._state, self._bus, self._counters)
            self._task = asyncio.create_task(listener.run(), name="http workers' bell")

    def heard(self, payload: str) -> None:
        """A notification: `lane priority queue`, where lane and priority may be `*`, or `@* queue`. Others are for others."""
        if payload.startswith("@* "):
            payload = payload.replace("@", "* ", 1)
        if payload.startswith(("!", "@", "%")):
            return
        lane, _, rest = payload.partition(" ")
        priority, _, queue = rest.partition(" ")
        place: tuple[bytes | None, int | None]
        try:
            place = UUID(lane).bytes, int(priority)
        except ValueError:
            place = None, None
        for board in self._boards():
            board.rung(queue, *place)

    def _state(self, listening: bool) -> None:
        self.listening = listening
        for board in self._boards():
            board.look_again()

    async def close(self) -> None:
        """Listen no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
