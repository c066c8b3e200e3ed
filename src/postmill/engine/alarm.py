"""An event with one waiter and a limit of time: asyncio.wait_for would cost a task and two turns of the loop."""

from __future__ import annotations

import asyncio


class Alarm:
    """`set` wakes the waiter, or the next one who comes."""

    __slots__ = ("_ringing", "_waiter")

    def __init__(self) -> None:
        self._ringing = False
        self._waiter: asyncio.Future[None] | None = None

    def set(self) -> None:
        self._ringing = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self, seconds: float) -> bool:
        """Wait for `set`, at most `seconds`; clears it. False: the time was up."""
        if not self._ringing:
            loop = asyncio.get_running_loop()
            waiter = self._waiter = loop.create_future()
            timer = loop.call_later(seconds, _wake, waiter)
            try:
                await waiter
            finally:
                timer.cancel()
                self._waiter = None
        rang, self._ringing = self._ringing, False
        return rang


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
