"""Makes partitions ahead, drops expired ones, and sweeps what has had its day."""

from __future__ import annotations

from postmill.engine.upkeep.round import Round
from postmill.telemetry.events import PartitionsPruned

_KEPT_MOST = 1000


class Pruner(Round):
    """One partition per round, so that no transaction lasts; soon again where there is more or it was busy."""

    name = "prune"
    every = 60.0

    async def once(self) -> float | None:
        await self.link.rows("upkeep/ensure_partitions")
        rows = await self.link.rows("upkeep/prune_partition")
        if rows:
            name, status, kept = rows[0]
            if status == "dropped":
                self.bus.emit(PartitionsPruned(dropped=(name,), kept=kept))
            return 0.2
        kept = (await self.link.rows("upkeep/prune_kept", [_KEPT_MOST]))[0][0]
        return 1.0 if kept >= _KEPT_MOST else None
