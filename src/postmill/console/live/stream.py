"""One browser's stream: what it has not been told yet, kept small however slowly it reads."""

from __future__ import annotations

import asyncio
from uuid import UUID

from postmill.console.live.topics import MANY, PLATFORM

UP, DOWN, OVER = "up", "down", "over"
"""Pings that are about the stream itself: pings come from now on; they do not, so poll; the login is over."""


class Stream:
    """Pings for one browser. A topic that was not sent yet is not noted twice.

    Args:
        actor: who reads it.
        tenant: whose pings it gets; None: the platform's, and every tenant's.
        home: the tenant whose login it is; None: the platform's.
    """

    def __init__(self, actor: str, tenant: UUID | None, home: UUID | None = None) -> None:
        self.actor = actor
        self.home = home
        self.closed = False
        self.doubted = False
        self._scopes = None if tenant is None else frozenset({str(tenant), MANY})
        self._waiting: dict[str, int] = {}
        self._rung = asyncio.Event()

    def hears(self, scope: str) -> bool:
        """Whether pings of this scope are for it. A tenant is never told of another, not even that it lives."""
        return self._scopes is None or scope in self._scopes

    def put(self, topic: str, scope: str, n: int) -> None:
        """Note a ping, if it is for this stream."""
        if self.hears(scope):
            self._waiting[f"{topic}:{scope}"] = n
            self._rung.set()

    def say(self, word: str, n: int) -> None:
        """Note a ping about the stream itself; of `up` and `down` the last one holds."""
        for other in (UP, DOWN):
            self._waiting.pop(other, None)
        self._waiting[word] = n
        self._rung.set()

    def doubt(self) -> None:
        """Its login may have ended: look before anything else is sent."""
        self.doubted = True
        self._rung.set()

    def close(self) -> None:
        """No more: what waits is still sent."""
        self.closed = True
        self._rung.set()

    async def next(self, seconds: float) -> dict[str, int]:
        """What there is to send, as soon as there is something, at the latest after so many seconds: then nothing."""
        try:
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        except TimeoutError:
            return {}
        self._rung.clear()
        waiting, self._waiting = self._waiting, {}
        return waiting


__all__ = ["DOWN", "OVER", "PLATFORM", "UP", "Stream"]
