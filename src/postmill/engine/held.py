"""Reports that wait for the handler's own transaction to end: of jobs that called `ctx.complete`.

Such a transaction locks the ticket for as long as its connection keeps it open, which may be longer than the handler
runs. Reported with the others, one of them would hold up all. So its report is kept back here until nobody has the
ticket locked; then it goes the way of every other, and finds out whether the transaction was committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from postmill.engine.alarm import Alarm
from postmill.engine.link import Link
from postmill.engine.raw import Ids
from postmill.engine.work import Work

_FIRST_PAUSE = 0.002  # seconds; a handler that commits has done so before it returns
_LONGEST_PAUSE = 0.25
_NOTHING_TO_DO = 60.0


class Held:
    """One loop, and one connection that is opened when it is first needed."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._reports: dict[Work, Callable[[], None]] = {}
        self._more = Alarm()
        self._none = asyncio.Event()
        self._none.set()

    def keep(self, work: Work, report: Callable[[], None]) -> None:
        """Call `report` once nobody has the ticket locked, or when the lease is over."""
        self._reports[work] = report
        self._none.clear()
        self._more.set()

    async def empty(self) -> None:
        """Until nothing is held."""
        await self._none.wait()

    async def run(self) -> None:
        """Until cancelled."""
        pause = _FIRST_PAUSE
        while True:
            await self._more.wait(pause if self._reports else _NOTHING_TO_DO)
            asked = list(self._reports)
            if not asked:
                continue
            rows = await self._link.retried("report/locked", [Ids([work.id for work in asked])])
            locked = {bytes(row[0]) for row in rows}
            ended = [work for work in asked if work.lost or work.id not in locked]
            for work in ended:
                self._reports.pop(work)()
            pause = _FIRST_PAUSE if ended else min(_LONGEST_PAUSE, pause * 2)
            if not self._reports:
                self._none.set()
