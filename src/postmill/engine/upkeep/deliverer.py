"""Settles deliveries of events that were published by SQL, or whose publisher could not settle them itself."""

from __future__ import annotations

import json
from collections import Counter

from postmill.client.publishing import settle
from postmill.engine.alarm import Alarm
from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.store.events import Pending, Settled, pending_deliveries
from postmill.store.flow import Flow
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import EventsDelivered, TriggerFailed

_MOST = 200


class Deliverer(Round):
    """A publisher by SQL rings; without notifications a delivery waits up to a second."""

    name = "deliver"
    every = 1.0
    share = 0.5

    def __init__(self, link: Link, bus: Bus, worker_id: str, counters: Counters) -> None:
        super().__init__(link, bus, worker_id)
        self._counters = counters
        self._rung = Alarm()

    def wake(self) -> None:
        """There is something to deliver."""
        self._rung.set()

    async def nap(self, seconds: float) -> None:
        await self._rung.wait(seconds)

    async def guarded(self) -> float | None:
        """Look without a lock whether anything waits."""
        due = (await self.link.rows("upkeep/next_delivery"))[0][0]
        if due is None or due > 0:
            return self.every if due is None else min(self.every, max(0.01, float(due)))
        return await super().guarded()

    async def once(self) -> float | None:
        waiting, settled = await self.link.drive(_round(self.link.schema))
        counts = Counter(it.outcome for it in settled)
        for outcome, n in counts.items():
            self._counters.deliveries[outcome] = self._counters.deliveries.get(outcome, 0) + n
        if settled:
            self.bus.emit(EventsDelivered(dict(counts)))
        known = {it.met.trigger_id: it for it in waiting}
        for answer in settled:
            if answer.outcome in ("failed", "refused"):
                own = known[answer.trigger_id]
                why = answer.detail or answer.outcome
                self.bus.emit(TriggerFailed(own.met.trigger_id, own.met.label, own.tenant_id, why))
        return 0.0 if len(waiting) >= _MOST else None


def _round(schema: str) -> Flow[tuple[list[Pending], list[Settled]]]:
    waiting: list[Pending] = yield pending_deliveries(_MOST, schema=schema)
    if not waiting:
        return [], []
    settled = yield from settle(schema, waiting, [json.loads(it.context) for it in waiting])
    return waiting, settled
