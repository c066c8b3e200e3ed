"""Raises the priority of jobs that have waited for long, in queues that ask for it."""

from __future__ import annotations

from typing import Any

from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import JobsBoosted

WINDOW = 1000
"""So many jobs of a lane are raised and wait at the same time; the oldest first, more follow as those start."""

_LANES = 500  # of one round
_MOST = 5000  # jobs of one round


class Booster(Round):
    name = "boost"
    every = 5.0
    share = 0.05

    def __init__(self, link: Link, bus: Bus, worker_id: str) -> None:
        super().__init__(link, bus, worker_id)
        self._next: tuple[Any, Any] = (None, None)

    async def once(self) -> float | None:
        rows = await self.link.rows("upkeep/boost", [*self._next, _LANES, WINDOW, _MOST])
        for queue, raised, _, _ in rows:
            if raised:
                self.bus.emit(JobsBoosted(queue, raised))
        self._next = rows[-1][2:] if rows else (None, None)
        return 0.0 if self._next[0] is not None else None
