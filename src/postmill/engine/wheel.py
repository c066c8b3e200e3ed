"""One timer for all deadlines of a process, in place of a timer object per job."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from postmill.engine.work import Work

_TICK = 0.05  # seconds; a timeout fires at most this late


class Wheel:
    """Jobs by the tick of their deadline. Ended jobs stay in their bucket until it is due and are passed over."""

    def __init__(self, due: Callable[[Work], None]) -> None:
        self._due = due
        self._buckets: dict[int, list[Work]] = {}
        self._turned_to = int(time.monotonic() / _TICK)

    def add(self, work: Work, seconds: float) -> None:
        tick = int((time.monotonic() + seconds) / _TICK) + 1
        bucket = self._buckets.get(tick)
        if bucket is None:
            self._buckets[tick] = [work]
        else:
            bucket.append(work)

    def turn(self) -> None:
        """Call `due` for every job whose deadline is over and that still runs."""
        moment = int(time.monotonic() / _TICK)
        if len(self._buckets) > moment - self._turned_to:
            ticks = [tick for tick in range(self._turned_to, moment + 1) if tick in self._buckets]
        else:
            ticks = [tick for tick in self._buckets if tick <= moment]
        self._turned_to = moment
        for tick in ticks:
            for work in self._buckets.pop(tick):
                if work.task is not None and not work.ended:
                    self._due(work)

    def sweep(self) -> None:
        """Forget ended jobs: an hour's timeout at 30,000 jobs a second would else keep a hundred million."""
        for tick in list(self._buckets):
            alive = [work for work in self._buckets[tick] if not work.ended]
            if alive:
                self._buckets[tick] = alive
            else:
                del self._buckets[tick]
