"""Moves due tickets from scheduled to ready, at most a second late, and rings for them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

from postmill.engine.link import Link
from postmill.engine.raw import Ids, micros
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import JobsPromoted

_PER_LANE = 500
_PER_ROUND = 5000
_RING_LANES = 16
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_LAG = timedelta(seconds=1)  # a look begins so much before the last one that found nothing due
_HEAD_EVERY = 5.0  # seconds between two looks from the true head, for late commits
_HEAD_SHARE = 50.0


class Promoter(Round):
    name = "promote"
    every = 1.0
    share = 0.5  # a million due at once must flow
    longest = 5.0

    def __init__(self, link: Link, bus: Bus, worker_id: str, found: Callable[[list[Any]], None]) -> None:
        super().__init__(link, bus, worker_id)
        self._found = found
        self._told: list[Any] = []
        self._from: datetime | None = None
        self._start: datetime | None = None
        self._head_at = 0.0

    async def guarded(self) -> float | None:
        """Look without a lock whether anything is due: that is all that an idle second costs.

        What was promoted is told after the commit, when a claim can see it.
        """
        began = monotonic()
        start = None if began >= self._head_at else self._from
        due, moment = (await self.link.rows("upkeep/next_due", [start, self.every]))[0]
        if start is None:
            self._head_at = monotonic() + max(_HEAD_EVERY, _HEAD_SHARE * (monotonic() - began))
        if due > 0:
            self._from = _EPOCH + timedelta(microseconds=micros(moment)) - _LAG
            return min(self.every, max(0.001, float(due)))
        self._told, self._start = [], start
        pause = await super().guarded()
        if self._told:
            self._found(self._told)
        return pause

    async def once(self) -> float | None:
        rows = await self.link.rows("upkeep/promote", [self._start, _PER_LANE, _PER_ROUND])
        n = sum(row[3] for row in rows)
        if n:
            self._told = rows
            self.bus.emit(JobsPromoted(n))
            await self._ring(rows)
        return 0.0 if n else 0.05

    async def _ring(self, rows: list[Any]) -> None:
        if len(rows) <= _RING_LANES:
            lanes: Any = Ids([row[1] for row in rows])
            args = [[row[0] for row in rows], lanes, [row[2] for row in rows]]
        else:
            queues = sorted({row[0] for row in rows})
            args = [queues, [None] * len(queues), [None] * len(queues)]
        await self.link.rows("upkeep/ring", args)
