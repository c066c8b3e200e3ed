"""Budgets: reservations of attempts that are over, thresholds that were crossed, periods that ended."""

from __future__ import annotations

from uuid import UUID

from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import BudgetAlert

_MOST = 500


class Budgets(Round):
    """Three looks at partial indexes where nobody uses budgets."""

    name = "budgets"
    every = 3.0
    longest = 30.0  # so late may people hear that money runs out

    def __init__(self, link: Link, bus: Bus, worker_id: str, counters: Counters) -> None:
        super().__init__(link, bus, worker_id)
        self._counters = counters

    async def once(self) -> float | None:
        over = await self.link.rows("upkeep/expire_reservations", [_MOST])
        for job_type, unit, booked, _ in over:
            self._counters.spend(job_type, unit, booked)
        await self.link.rows("upkeep/expire_budget_limits", [_MOST])
        told = await self.link.rows("upkeep/tell_budget_alerts", [_MOST])
        for change, name, tenant, percent, severity in told:
            self.bus.emit(
                BudgetAlert(
                    name, percent, severity, change, UUID(bytes=tenant) if tenant is not None else None
                )
            )
        return 0.0 if max(len(over), len(told)) >= _MOST else None
