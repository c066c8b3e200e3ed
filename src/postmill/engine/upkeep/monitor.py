"""Measures depths and ages for the gauges."""

from __future__ import annotations

from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import QueueMeasured
from postmill.telemetry.gauges import Depth


class Monitor(Round):
    """Every worker measures for its own /metrics; counts stop at 100,000 per state."""

    name = "monitor"
    every = 15.0

    def __init__(self, link: Link, bus: Bus, worker_id: str, counters: Counters) -> None:
        super().__init__(link, bus, worker_id)
        self._counters = counters

    async def once(self) -> float | None:
        rows = await self.link.rows("upkeep/measure")
        depths = [Depth(queue=queue, tenant="", status=state, count=n) for queue, state, n, _ in rows]
        oldest = {queue: age for queue, state, _, age in rows if state == "queued"}
        types = dict(await self.link.rows("upkeep/measure_types"))
        for queue in sorted({row[0] for row in rows}):
            depth = {state: n for name, state, n, _ in rows if name == queue}
            self.bus.emit(QueueMeasured(queue, depth, oldest.get(queue)))
        self._counters.gauges.measured(depths, oldest=oldest, types=types)
        return None
