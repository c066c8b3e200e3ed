"""A run: batches as large as the budget's level allows, until nothing is left, or the hour's share is done."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from examples.homepage.statements import Row
from examples.homepage.tagging import store, telemetry
from examples.homepage.tagging.errors import TooBusy
from examples.homepage.tagging.items import Items
from postmill import BudgetDeferred, BudgetExhausted

BATCH = 20
"""Items of a batch where the budget is at NORMAL; half of them at REDUCE."""

MOST_BATCHES = 12
"""Of one run."""

MOST_FAILURES_IN_A_ROW = 5
"""The service is away then: what is left is for the next hour."""


@dataclass(slots=True)
class Run:
    """What a run has done. `total`: what there was to tag when it began."""

    items: Items
    total: int
    tagged: int = 0
    failed: int = 0
    batches: int = 0
    in_a_row: int = 0
    ended: str = "done"

    async def work(self) -> dict[str, Any]:
        """Do it. Raises TooBusy, Refused."""
        while self.batches < MOST_BATCHES and await self._goes_on():
            async with self.items.pool.connection() as conn:
                batch = await store.take(conn, self.items.budget.batch(BATCH))
            if not batch:
                break
            self.batches += 1
            await self._batch(batch)
        return {"tagged": self.tagged, "failed": self.failed, "batches": self.batches, "ended": self.ended}

    async def _goes_on(self) -> bool:
        """Looks at the budget again; waits, where the service wants us slower."""
        if self.ended != "done":
            return False
        if not self.batches:
            return True
        async with self.items.pool.connection() as conn:
            delay = await store.batch_delay(conn)
        await asyncio.sleep(delay)
        try:
            await self.items.budget.acheck()
        except (BudgetDeferred, BudgetExhausted):
            self._out_of_budget()
        checked(self.items.budget.standing)
        return self.ended == "done"

    async def _batch(self, batch: list[Row]) -> None:
        left = [item["id"] for item in batch]
        try:
            for item in batch:
                self._count(await self.items.tag(item))
                left.remove(item["id"])
                if self.in_a_row >= MOST_FAILURES_IN_A_ROW:
                    self.ended = "failures in a row"
                    self.items.log.warning("tagging_ended", why=self.ended)
                    return
            async with self.items.pool.connection() as conn:
                await store.speed_up(conn, self.items.service.settings.delay_step)
        except (BudgetDeferred, BudgetExhausted):
            self._out_of_budget()
        except TooBusy:
            async with self.items.pool.connection() as conn:
                delay = await store.slow_down(conn, self.items.service.settings.delay_step)
            self.items.log.warning("rate_limited", batch_delay=delay, tagged=self.tagged)
            raise
        finally:
            async with self.items.pool.connection() as conn:
                await store.release(conn, left)

    def _count(self, done: bool | None) -> None:
        self.tagged += done is True
        self.failed += done is False
        self.in_a_row = self.in_a_row + 1 if done is False else 0

    def _out_of_budget(self) -> None:
        self.ended = "budget"
        told = {"tagged_count": self.tagged, "total_count": self.total}
        telemetry.throttles.labels().inc()
        telemetry.event("budget_exhausted_mid_batch", told)
        self.items.log.warning("budget_exhausted_mid_batch", **told)


def checked(standing: Any) -> None:
    """Tell where the budget stands."""
    percent = float(standing.percent)
    telemetry.percent_used.labels().set(percent)
    telemetry.event("budget_check", {"budget_action": standing.level.value, "percent_used": percent})
