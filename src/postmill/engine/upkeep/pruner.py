"""Makes partitions ahead, drops expired ones, and sweeps what has had its day."""

from __future__ import annotations

from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import PartitionsPruned

_KEPT_MOST = 1000


class Pruner(Round):
    """One partition per round, so that no transaction lasts; soon again where there is more or it was busy."""

    name = "prune"
    every = 60.0

    def __init__(
        self, link: Link, bus: Bus, worker_id: str, retention: float | None, width: float | None
    ) -> None:
        super().__init__(link, bus, worker_id)
        self._policy = [retention, width]

    async def once(self) -> float | None:
        if self._policy != [None, None]:
            await self.link.rows("upkeep/set_retention", self._policy)
        await self.link.rows("upkeep/ensure_partitions")
        rows = await self.link.rows("upkeep/prune_partition")
        if rows:
            name, status, kept = rows[0]
            if status == "dropped":
                self.bus.emit(PartitionsPruned(dropped=(name,), kept=kept))
            return 0.2
        kept = (await self.link.rows("upkeep/prune_kept", [_KEPT_MOST]))[0][0]
        return 1.0 if kept >= _KEPT_MOST else None
