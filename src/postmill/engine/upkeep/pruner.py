"""Makes partitions ahead, and takes out what is past its retention: whole partitions, rows, dead letters, the audit log."""

from __future__ import annotations

import json
import random

from postmill.engine.link import Link
from postmill.engine.upkeep.retention import RetentionConfig
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import PartitionsPruned

_KEPT_MOST = 1000
_LETTERS_MOST = 500
_LINKS_MOST = 1000
_STEPS_MOST = 5000
_SOON = 0.2  # seconds until the next round where there is more to do
_LONGEST = 30.0  # seconds between two tries for a table that somebody holds


class Pruner(Round):
    """One step of each kind, so that no transaction lasts; soon again where there is more."""

    name = "prune"
    every = 60.0

    def __init__(self, link: Link, bus: Bus, worker_id: str, config: RetentionConfig) -> None:
        super().__init__(link, bus, worker_id)
        self._config = config
        self._busy = 0

    async def guarded(self) -> float | None:
        """A round, and then one partition: a statement that is a transaction by itself, so that its lock is held no longer."""
        pauses = [await super().guarded(), await self._partition()]
        return min((pause for pause in pauses if pause is not None), default=None)

    async def once(self) -> float | None:
        config = self._config
        if config.says:
            reasons = None if config.keep_reasons is None else list(config.keep_reasons)
            await self.link.rows(
                "upkeep/set_retention", [json.dumps(dict(config.keep)), config.width, reasons]
            )
        await self.link.rows("upkeep/ensure_partitions")
        return await self._rows()

    async def _partition(self) -> float | None:
        """Who waits for the lock makes writers wait: where somebody holds the table it is asked for ever more rarely."""
        rows = await self.link.rows("upkeep/prune_partition")
        if not rows:
            self._busy = 0
            return None
        name, status, kept = rows[0]
        if status == "busy":
            self._busy += 1
            return min(_LONGEST, _SOON * 2.0**self._busy) * random.uniform(0.5, 1.0)
        self._busy = 0
        await self.link.rows("upkeep/drop_units")
        self.bus.emit(PartitionsPruned(dropped=(name,), kept=kept))
        return _SOON

    async def _rows(self) -> float | None:
        """What goes row by row."""
        more = bool((await self.link.rows("upkeep/retire"))[0][0])
        more |= (await self.link.rows("upkeep/expire_letters", [_LETTERS_MOST]))[0][0] >= _LETTERS_MOST
        more |= (await self.link.rows("upkeep/prune_audit", [_LINKS_MOST]))[0][0] >= _LINKS_MOST
        more |= (await self.link.rows("upkeep/prune_kept", [_KEPT_MOST]))[0][0] >= _KEPT_MOST
        more |= (await self.link.rows("upkeep/prune_workflows", [_STEPS_MOST]))[0][0] <= 0
        if more:
            return _SOON
        await self.link.rows("upkeep/drop_units")
        await self.link.rows("upkeep/close_units")
        return None
