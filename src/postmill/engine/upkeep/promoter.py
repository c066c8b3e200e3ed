"""Moves due tickets from scheduled to ready, at most a second late, and rings for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postmill.engine.link import Link
from postmill.engine.raw import Ids
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import JobsPromoted

_PER_LANE = 500
_PER_ROUND = 5000
_RING_LANES = 16


class Promoter(Round):
    name = "promote"
    every = 1.0
    share = 0.5  # a million due at once must flow

    def __init__(self, link: Link, bus: Bus, worker_id: str, found: Callable[[list[Any]], None]) -> None:
        super().__init__(link, bus, worker_id)
        self._found = found
        self._told: list[Any] = []

    async def guarded(self) -> float | None:
        """As every round; what was promoted is told after the commit, when a claim can see it."""
        self._told = []
        pause = await super().guarded()
        if self._told:
            self._found(self._told)
        return pause

    async def once(self) -> float | None:
        rows = await self.link.rows("upkeep/promote", [None, _PER_LANE, _PER_ROUND])
        n = sum(row[3] for row in rows)
        if n:
            self._told = rows
            self.bus.emit(JobsPromoted(n))
            ringing = (
                rows if len(rows) <= _RING_LANES else [(queue, None, None) for queue in {r[0] for r in rows}]
            )
            lanes = [row[1] for row in ringing]
            await self.link.rows(
                "upkeep/ring",
                [
                    [row[0] for row in ringing],
                    Ids(lanes) if None not in lanes else [None] * len(lanes),
                    [row[2] for row in ringing],
                ],
            )
        if n >= _PER_ROUND // 2:
            return 0.0
        due = await self.link.rows("upkeep/next_due", [None, self.every])
        return min(self.every, max(0.001, float(due[0][0])))
