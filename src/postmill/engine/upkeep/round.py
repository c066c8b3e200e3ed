"""The base of all upkeep: one round at a time in the whole fleet, guarded by a row, with no leader to lose."""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Callable
from time import monotonic
from typing import ClassVar

import psycopg

from postmill.engine.database import is_conflict, is_outage
from postmill.engine.link import Link
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import UpkeepFailed


class Round(ABC):
    """A loop whose body is one round. `once` does it; `run` repeats it at the pace that `once` asks for."""

    name: ClassVar[str]
    every: ClassVar[float]  # seconds between rounds
    share: ClassVar[float] = 0.02  # of the time that rounds may take
    # Most seconds between rounds, however dear the last one was. What a round took is told by the clock on the wall: one that
    # has waited for a lock, or was stopped for a minute with its process, would put off the next for an hour.
    longest: float = 300.0

    def __init__(self, link: Link, bus: Bus, worker_id: str) -> None:
        self.link = link
        self.bus = bus
        self.worker_id = worker_id

    @abstractmethod
    async def once(self) -> float | None:
        """One round under the lock. Returns seconds until the next; None for the usual pace."""

    async def guarded(self) -> float | None:
        """One round if nobody else is at it. The lock is taken in a statement of its own, in one transaction."""
        async with self.link.transaction():
            rows = await self.link.rows("upkeep/lock", [self.name])
            if not rows:
                return None
            pause = await self.once()
            await self.link.rows("upkeep/ran", [self.name, self.worker_id])
            return pause

    async def run(self) -> None:
        """Until cancelled."""
        await asyncio.sleep(random.uniform(0, min(1.0, self.every)))
        while True:
            began = monotonic()
            try:
                pause = await self.guarded()
            except (psycopg.Error, OSError) as error:
                if is_outage(error):
                    await self.link.pause(error)
                    continue
                await self.link.drop()
                if not is_conflict(error):
                    self.bus.emit(UpkeepFailed(self.name, str(error)))
                pause = self.every
            cost = monotonic() - began
            usual = self.every * random.uniform(0.9, 1.1)
            rest = min(cost / self.share - cost, self.longest)
            await self.nap(max(pause if pause is not None else usual, rest))

    async def nap(self, seconds: float) -> None:
        """The time between two rounds."""
        await asyncio.sleep(seconds)


MakeRound = Callable[[Link, Bus, str], Round]
"""Makes a round that others bring along, on a connection of its own."""
