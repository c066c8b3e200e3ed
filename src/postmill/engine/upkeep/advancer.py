"""Moves workflows on: reads what their inboxes were told of ended jobs, and lets go what waited for those."""

from __future__ import annotations

import random
from time import monotonic

import psycopg

from postmill.engine.alarm import Alarm
from postmill.engine.database import is_outage
from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import UpkeepFailed

_MOST = 100  # workflows in a round
_TRIES = 50  # rounds that find a workflow in somebody's hands, at a quick pace; then at the usual one
_LOOK_EVERY = 60.0  # seconds between two looks for ends that no inbox was told of
_STEPS = 5000  # in one such look


class Advancer(Round):
    """Every worker may: a workflow's row is its lock. Woken by this worker's own reports, and by a notification.

    Each workflow moves in a transaction of its own, so that one which somebody holds keeps no other.
    """

    name = "workflows"
    every = 1.0
    share = 1.0

    def __init__(self, link: Link, bus: Bus, worker_id: str) -> None:
        super().__init__(link, bus, worker_id)
        self._rung = Alarm()
        self._tries = 0
        self._looked_at = monotonic()

    def wake(self) -> None:
        """A job of a workflow has ended, or somebody has acted on one."""
        self._tries = 0
        self._rung.set()

    async def nap(self, seconds: float) -> None:
        await self._rung.wait(seconds)

    async def guarded(self) -> float | None:
        if monotonic() - self._looked_at > _LOOK_EVERY:
            self._looked_at = monotonic()
            await self.link.rows("upkeep/look_after_workflows", [_LOOK_EVERY, _STEPS])
        return await self.once()

    async def once(self) -> float | None:
        moved = held = False
        for (id,) in await self.link.rows("upkeep/stirred_workflows", [_MOST]):
            try:
                lines = (await self.link.rows("upkeep/advance_workflow", [id]))[0][0]
            except psycopg.Error as error:
                if is_outage(error):
                    raise
                self.bus.emit(UpkeepFailed(self.name, str(error)))
                continue
            moved, held = moved or lines > 0, held or lines < 0
        if moved:
            self._tries = 0
            return 0.0
        if held and self._tries < _TRIES:
            self._tries += 1
            return random.uniform(0.001, 0.005)
        return None
