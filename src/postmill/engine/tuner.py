"""The loop that lets the slots of queues follow their work, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from postmill.domain.slot_tuner import Look, SlotTuner
from postmill.domain.slots_held import held
from postmill.domain.usual_length import Ended, UsualLength
from postmill.engine.pressure import Pressure, PressureGauge
from postmill.engine.work import QueueSlots
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import SlotsChanged
from postmill.telemetry.histogram import DURATION_BOUNDS

EVERY = 1.0
"""Seconds between two looks."""


class Tuner:
    """Looks at each queue whose slots are a range. `has_work` tells whether more of a queue waits in the database
    and could start; `changed` is called with a queue that has more slots, or fewer."""

    def __init__(
        self,
        queues: Mapping[str, QueueSlots],
        counters: Counters,
        bus: Bus,
        has_work: Callable[[str], bool],
        changed: Callable[[QueueSlots], None],
        gauge: PressureGauge | None = None,
    ) -> None:
        self._queues = queues
        self._counters = counters
        self._bus = bus
        self._has_work = has_work
        self._changed = changed
        self._gauge = gauge or PressureGauge()
        self._tuned: dict[str, tuple[SlotTuner, UsualLength]] = {}
        self.pressure = Pressure()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(EVERY)
            self.look()

    def look(self) -> None:
        """One look at all of them."""
        ranged = [queue for queue in list(self._queues.values()) if queue.ranged]
        if not ranged:
            return
        self.pressure = self._gauge.read()
        ended: dict[str, dict[str, Ended]] = {}
        for type in self._counters.types():
            ended.setdefault(type.queue, {})[type.job_type] = (list(type.success.counts), type.success.sum)
        for queue in ranged:
            self._tune(queue, ended.get(queue.name, {}))

    def _tune(self, queue: QueueSlots, ended: Mapping[str, Ended]) -> None:
        found = self._tuned.get(queue.name)
        if found is None:
            found = self._tuned[queue.name] = (
                SlotTuner(queue.floor, queue.ceiling),
                UsualLength(DURATION_BOUNDS),
            )
        tuner, usual = found
        before = queue.slots
        seen = Look(
            queue.active,
            bool(queue.waiting) or self._has_work(queue.name),
            usual.look(ended),
            self.pressure.cpu,
            self.pressure.memory,
        )
        queue.slots = tuner.look(seen)
        queue.held = held(tuner.held, seen)
        if queue.slots != before and tuner.because is not None:
            queue.because = tuner.because.value
            self._bus.emit(
                SlotsChanged(
                    self._counters.worker_id,
                    queue.name,
                    before,
                    queue.slots,
                    tuner.because.value,
                    slower=seen.slower,
                    cpu=seen.cpu,
                    memory=seen.memory,
                )
            )
            self._changed(queue)
