"""Measures depths and ages for the gauges: one worker of the fleet counts, all show what it found."""

from __future__ import annotations

import json
from typing import Any

from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import QueueMeasured
from postmill.telemetry.gauges import Depth

_STALE = 12.0  # seconds after which somebody counts anew


class Monitor(Round):
    """Counts stop at 100,000 per state, so that a round stays short whatever has piled up."""

    name = "monitor"
    every = 15.0

    def __init__(self, link: Link, bus: Bus, worker_id: str, counters: Counters) -> None:
        super().__init__(link, bus, worker_id)
        self._counters = counters

    async def guarded(self) -> float | None:
        """Count under the lock if what is noted is stale; then show what is noted."""
        note, age = (await self.link.rows("upkeep/noted", [self.name]))[0]
        if note is None or age is None or age > _STALE:
            async with self.link.transaction():
                if await self.link.rows("upkeep/lock", [self.name]):
                    await self.once()
            note, _ = (await self.link.rows("upkeep/noted", [self.name]))[0]
        if note is not None:
            self._show(json.loads(note[1:]))
        return None

    async def once(self) -> float | None:
        depths = await self.link.rows("upkeep/measure")
        types = await self.link.rows("upkeep/measure_types")
        note = json.dumps({"depths": [list(row) for row in depths], "types": dict(types)})
        await self.link.rows("upkeep/note", [self.name, note])
        return None

    def _show(self, note: dict[str, Any]) -> None:
        rows = note["depths"]
        depths = [Depth(queue=queue, tenant="", status=state, count=n) for queue, state, n, _ in rows]
        oldest = {queue: age for queue, state, _, age in rows if state == "queued"}
        for queue in sorted({row[0] for row in rows}):
            depth = {state: n for name, state, n, _ in rows if name == queue}
            self.bus.emit(QueueMeasured(queue, depth, oldest.get(queue)))
        self._counters.gauges.measured(depths, oldest=oldest, types=note["types"])
