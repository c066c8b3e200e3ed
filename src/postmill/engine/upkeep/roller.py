"""Sums up what was counted: jobs that were made, ends, failures by group; and tells live pages of it."""

from __future__ import annotations

from time import monotonic

from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus

_MOST = 20_000

_CARE_EVERY = 60.0
_WATCHED_EVERY = 2.0  # seconds between rounds while somebody has a live page open


class Roller(Round):
    name = "rollup"
    every = 5.0
    share = 0.05

    def __init__(self, link: Link, bus: Bus, worker_id: str) -> None:
        super().__init__(link, bus, worker_id)
        self._cared_at = monotonic()

    async def once(self) -> float | None:
        more = (await self.link.rows("upkeep/count_enqueues"))[0][0]
        watched = (await self.link.rows("upkeep/tell_changes", [_MOST]))[0][0]
        folded = (await self.link.rows("upkeep/fold_rollups", [_MOST]))[0][0]
        failures = (await self.link.rows("upkeep/fold_error_groups", [_MOST]))[0][0]
        if monotonic() - self._cared_at >= _CARE_EVERY:
            old = (await self.link.rows("upkeep/coarsen_rollups", [_MOST]))[0][0]
            await self.link.rows("upkeep/prune_error_groups", [_MOST])
            if not old:
                self._cared_at = monotonic()
        if more or folded >= _MOST or failures >= _MOST:
            return 0.0
        return _WATCHED_EVERY if watched else None
