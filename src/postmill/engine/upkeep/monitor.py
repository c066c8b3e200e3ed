"""Measures depths and ages for the gauges: one worker of the fleet counts, all show what it found. Then it raises what is
wrong by itself as incidents, and ends what is over: late queues, silent workers, schedules."""

from __future__ import annotations

import json
from typing import Any

from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import QueueMeasured

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
                ours = bool(await self.link.rows("upkeep/lock", [self.name]))
                if ours:
                    await self.once()
            if ours:
                await self.link.rows("upkeep/watch")
            note, _ = (await self.link.rows("upkeep/noted", [self.name]))[0]
        if note is not None:
            self._show(json.loads(note[1:]))
        return None

    async def once(self) -> float | None:
        depths = await self.link.rows("upkeep/measure")
        types = await self.link.rows("upkeep/measure_types")
        workers = await self.link.rows("upkeep/measure_workers")
        incidents = await self.link.rows("upkeep/measure_incidents")
        letters = await self.link.rows("upkeep/measure_letter_names")
        limits = await self.link.rows("upkeep/measure_limits")
        budgets = await self.link.rows("upkeep/measure_budgets")
        required, waiting, oldest, failing, _ = (await self.link.rows("archive/state"))[0]
        note = json.dumps(
            {
                "depths": [list(row) for row in depths],
                "types": dict(types),
                "limits": [list(row) for row in limits],
                "budgets": [list(row) for row in budgets],
                "archive": [waiting, oldest or 0.0, failing] if required else None,
                "workers": dict(workers),
                "dead_letters_as": dict(letters),
                "incidents": [list(row) for row in incidents],
            }
        )
        await self.link.rows("upkeep/note", [self.name, note])
        await self.link.rows("upkeep/tell_measured")
        return None

    def _show(self, note: dict[str, Any]) -> None:
        gauges = self._counters.gauges
        gauges.noted(note)
        depths: dict[str, dict[str, int]] = {}
        for row in gauges.depths:
            states = depths.setdefault(row.queue, {})
            states[row.status] = states.get(row.status, 0) + row.count
        for queue in sorted(depths):
            self.bus.emit(QueueMeasured(queue, depths[queue], gauges.oldest.get(queue)))
