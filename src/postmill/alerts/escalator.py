"""Takes the steps of escalation policies, plans when each is told, and sees to it that somebody tells it.

What it costs while nothing is wrong: one statement a second.
"""

from __future__ import annotations

from datetime import datetime

from postmill.alerts.notify import job_for
from postmill.client.flows import enqueue
from postmill.domain.escalation import Escalation
from postmill.domain.registry import Registry
from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.store import escalation as store
from postmill.store.escalation import DueIncident, TakenStep, Unplanned
from postmill.store.flow import Flow, once
from postmill.store.notifications import failing_channels, move_notifications
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import IncidentsEscalated

_MOST = 500


class Escalator(Round):
    """Any worker whose settings have channels may run a round, one at a time."""

    name = "escalate"
    every = 1.0
    share = 0.5
    longest = 5.0

    def __init__(self, link: Link, bus: Bus, worker_id: str, *, plan: Escalation, registry: Registry) -> None:
        super().__init__(link, bus, worker_id)
        self._plan = plan
        self._registry = registry

    async def guarded(self) -> float | None:
        """Look without a lock whether anything is to be done."""
        channels = list(self._plan.outlets)
        due = await self.link.drive(once(store.next_escalation(channels, schema=self.link.schema)))
        if due is None or due > 0:
            return self.every if due is None else min(self.every, max(0.01, due))
        return await super().guarded()

    async def once(self) -> float | None:
        taken, told, more = await self.link.drive(self._round(self.link.schema))
        if taken or told:
            self.bus.emit(IncidentsEscalated(taken, told))
        return 0.0 if more else None

    def _round(self, schema: str) -> Flow[tuple[int, int, bool]]:
        """How many incidents took a step, how many notifications were planned, and whether there are more."""
        news: int = yield store.count_dead_letters(_MOST, schema=schema)
        due: list[DueIncident] = yield store.due_incidents(_MOST, schema=schema)
        failing: list[str] = yield failing_channels(schema=schema)
        if due:
            yield store.take_steps([self._step(it, failing) for it in due], schema=schema)
        planned: list[Unplanned] = yield store.unplanned_notifications(_MOST, schema=schema)
        if planned:
            moments = [self._due(it) for it in planned]
            yield store.plan_notifications([it.id for it in planned], moments, schema=schema)
        yield from self._hand_over(failing, schema)
        ready: list[str] = yield store.due_channels(list(self._plan.outlets), schema=schema)
        for channel in ready:
            yield from enqueue(schema, job_for(channel, self._registry))
        return len(due), len(planned), _MOST in (news, len(due), len(planned))

    def _step(self, it: DueIncident, failing: list[str]) -> TakenStep:
        policy = self._plan.policy(
            it.kind, it.key, contact=it.contact, escalation=it.escalation, failing=failing
        )
        if policy is None:
            return TakenStep(it.id, it.cycle, it.step, (), max(it.step, 1), None)
        taken = policy.take(it.step, it.since, it.now, over=it.over)
        return TakenStep(it.id, it.cycle, it.step, taken.told, taken.next_step, taken.next_at)

    def _due(self, it: Unplanned) -> datetime:
        outlet = self._plan.outlets.get(it.channel)
        return it.now if outlet is None else outlet.due(it.severity, it.now)

    def _hand_over(self, failing: list[str], schema: str) -> Flow[None]:
        """What waits on a channel that the settings have no more goes to another one."""
        strays: list[str] = yield store.stray_channels(list(self._plan.outlets), schema=schema)
        for channel in strays:
            other = self._plan.fallback(channel, failing)
            if other is not None:
                yield move_notifications(channel, other, schema=schema)
