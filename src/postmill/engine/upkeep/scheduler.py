"""Makes the jobs of schedules that are due, at most a second late. Cost grows with what is due, not with what exists.

Nothing is remembered between rounds but from where on to look: a scheduler that was stopped for hours starts from what
the database says, and each tick is taken only where its schedule still stands as it was seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from time import monotonic

import psycopg

from postmill.engine.database import is_conflict, is_outage
from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.engine.upkeep.ticks import Work, broken, work_for
from postmill.store.firing import DueTrigger, Fired, Row, due_triggers, fire_ticks, plan_triggers
from postmill.store.flow import Flow, once
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import TicksFired, TriggerBroken, TriggerFailed

_MOST = 500  # schedules in a round: a fraction of a second, so that no transaction lasts
_LAG = timedelta(seconds=2)
_HEAD_EVERY = 5.0  # seconds between two looks from the true head
_HEAD_SHARE = 50.0
_BUSY = 0.1


class Scheduler(Round):
    """Any worker may run a round, one at a time: under its row, and under seed 3's advisory lock."""

    name = "schedule"
    every = 1.0
    share = 0.8
    longest = 5.0

    def __init__(self, link: Link, bus: Bus, worker_id: str, counters: Counters) -> None:
        super().__init__(link, bus, worker_id)
        self._counters = counters
        self._from: datetime | None = None
        self._start: datetime | None = None
        self._head_at = 0.0

    async def guarded(self) -> float | None:
        """Look without a lock whether anything is due: that is all that an idle second costs."""
        began = monotonic()
        start = None if began >= self._head_at else self._from
        due, moment = (await self.link.rows("upkeep/next_tick", [start]))[0]
        if start is None:
            self._head_at = monotonic() + max(_HEAD_EVERY, _HEAD_SHARE * (monotonic() - began))
        if due is None or due > 0:
            self._from = moment - _LAG
            return self.every if due is None else min(self.every, max(0.001, float(due)))
        self._start = start
        async with self.link.transaction():
            if not await self.link.rows("upkeep/lock", [self.name]):
                return _BUSY
            locked, _ = (await self.link.rows("upkeep/try_lock", [self.name]))[0]
            if not locked:
                return _BUSY
            pause = await self.once()
            await self.link.rows("upkeep/ran", [self.name, self.worker_id])
            return pause

    async def once(self) -> float | None:
        schema = self.link.schema
        due = await self.link.drive(once(due_triggers(self._start, _MOST, schema=schema)))
        if not due:
            return 0.05
        fired = await self._done(due)
        self._tell(due, fired)
        moved = any(it.outcome not in ("stale", "pending") for it in fired) or len(fired) == 0
        return 0.0 if len(due) >= _MOST and moved else 0.05 if moved else self.every

    async def _done(self, due: Sequence[DueTrigger]) -> list[Fired]:
        """Fire and plan, all in one statement; where that fails, each schedule for itself."""
        work = await self.link.drive(work_for(self.link.schema, due))
        try:
            return await self._send(work)
        except psycopg.Error as error:
            if is_outage(error) or is_conflict(error):
                raise
        fired: list[Fired] = []
        for trigger in due:
            own = Work(_of(trigger, work.ticks), _of(trigger, work.plans))
            try:
                fired += await self._send(own)
            except psycopg.Error as error:
                if is_outage(error) or is_conflict(error):
                    raise
                why = f"the database refuses its tick: {str(error).strip()[:500]}"
                await self._send(Work([], [broken(trigger, why)]))
                self.bus.emit(TriggerBroken(trigger.id, trigger.label, trigger.tenant_id, why))
        return fired

    async def _send(self, work: Work) -> list[Fired]:
        async with self.link.transaction():
            return await self.link.drive(_sent(self.link.schema, work))

    def _tell(self, due: Sequence[DueTrigger], fired: Sequence[Fired]) -> None:
        ours = [it for it in fired if it.outcome not in ("stale", "pending")]
        if not ours:
            return
        counts = Counter(it.outcome for it in ours)
        late = (
            max(it.late for it in ours if it.outcome != "skipped") if len(ours) > counts["skipped"] else 0.0
        )
        for outcome, n in counts.items():
            self._counters.ticks[outcome] = self._counters.ticks.get(outcome, 0) + n
        self._counters.tick_late = late
        self.bus.emit(TicksFired(dict(counts), late))
        labels = {it.id: it for it in due}
        for it in ours:
            if it.outcome in ("failed", "refused") and (own := labels.get(it.trigger_id)) is not None:
                self.bus.emit(TriggerFailed(own.id, own.label, own.tenant_id, it.detail or it.outcome))


def _sent(schema: str, work: Work) -> Flow[list[Fired]]:
    if work.plans:
        yield plan_triggers(work.plans, schema=schema)
    if not work.ticks:
        return []
    fired: list[Fired] = yield fire_ticks(work.ticks, schema=schema)
    return fired


def _of(trigger: DueTrigger, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.facts["trigger_id"] == trigger.id]
