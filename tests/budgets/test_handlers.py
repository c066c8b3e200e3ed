"""What handlers get of budgets: on the loop, in threads, in processes of their own, and before they run at all."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from postmill.bind import adrive, arun
from postmill.domain.budget import plain
from postmill.domain.lane import DEFAULT_TENANT
from postmill.operate import budgets
from postmill.store.spending import budget_standing
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import JobDeferred
from postmill.telemetry.metrics import render
from tests.budgets import jobs
from tests.support.workers import enqueue, state, until, working

TYPES = (
    jobs.tag, jobs.tag_in_thread, jobs.tag_in_child, jobs.raising, jobs.blocking, jobs.put_off, jobs.declared,
    jobs.declared_child,
)  # fmt: skip


class Ended:
    """Runs jobs to their end, and tells what came of them."""

    def __init__(self, conn: AsyncConnection[Any]) -> None:
        self.conn = conn

    async def __call__(self, job_type: str, **payload: Any) -> tuple[str, Any, str | None]:
        id = await enqueue(self.conn, job_type, json.dumps(payload))
        await until(lambda: self._over(id), 40)
        cursor = await self.conn.execute(
            """select o.status, o.result, coalesce(o.reason, d.reason) from postmill.job_state(%s) s
                 left join postmill.outcome o on o.job_id = s.id left join postmill.dead_letter d on d.id = s.id""",
            [[id]],
        )
        row = await cursor.fetchone()
        assert row is not None
        return row[0] or await state(self.conn, id) or "", row[1], row[2]

    async def _over(self, id: UUID) -> bool:
        return await state(self.conn, id) in ("succeeded", "failed", "dead_letter", "scheduled")

    async def spent(self) -> str:
        found = await arun(self.conn, budget_standing("ai", DEFAULT_TENANT))
        assert not found[0].reserved
        return plain(found[0].spent)


async def test_spending(dsn: str, apg: AsyncConnection[Any]) -> None:
    ended, bus, told = Ended(apg), Bus(), []
    bus.subscribe(told.append, JobDeferred)
    await adrive(apg, budgets.set_budget("ai", limit="5.00"))
    async with working(dsn, *TYPES, bus=bus) as worker:
        status, result, _ = await ended("tag")
        assert (status, result) == ("succeeded", {"level": "NORMAL", "batch": 20, "percent": "8"})
        _, result, _ = await ended("tag_in_thread")
        assert result == {"before": 20, "level": "NORMAL", "batch": 20}
        assert (await ended("tag_in_child"))[1] == "NORMAL"
        assert await ended.spent() == "1.2"
        # A block without settle books what was reserved, whether it raises or not; unless nothing was called.
        assert (await ended("tag", settle=None))[0] == "succeeded"
        assert await ended.spent() == "1.7"
        for how, total in (
            ("settled", "1.9"),
            ("released", "1.9"),
            ("unstarted", "1.9"),
            ("unknown", "2.15"),
        ):
            await ended("raising", how=how)
            assert (how, await ended.spent()) == (how, total)
        assert (await ended("raising", how="twice"))[0] == "dead_letter"
        assert await ended.spent() == "2.25"
        assert (await ended("blocking"))[0] == "dead_letter"
        # Names: found without case; what is meant is said.
        status, _, reason = await ended("tag", budget="a-i")
        assert (status, reason) == ("dead_letter", "permanent_error")
        cursor = await apg.execute(
            "select error_class, error_message from postmill.dead_letter order by failed_at desc limit 1"
        )
        assert await cursor.fetchone() == (
            "postmill.domain.errors.UnknownBudget",
            "there is no budget 'a-i'; did you mean 'ai'? known budgets: ai",
        )
        # What does not fit is deferred, what never will is the end.
        status, _, reason = await ended("tag", cost=2.76)
        assert status == "succeeded"
        assert reason is not None
        assert reason.startswith("2.76 USD do not fit what is left: budget ai is at NORMAL: 45 % of 5 USD")
        assert (await ended("tag", cost=5.01))[2] == "budget_exhausted"
        assert await ended.spent() == "2.25"
        # REDUCE, then QUEUE: whatever runs now ends with nothing done.
        assert (await ended("tag", cost=1.5, settle=1.5))[1] == {
            "level": "REDUCE",
            "batch": 10,
            "percent": "75",
        }
        assert (await ended("declared"))[1] == "ran"
        assert (await ended("tag", cost=0.75, settle=0.75))[1]["level"] == "QUEUE"
        for job_type in ("tag", "tag_in_thread", "tag_in_child", "declared", "declared_child"):
            status, result, reason = await ended(job_type)
            assert (job_type, status, result) == (job_type, "succeeded", None)
            assert "is at QUEUE: 90 %" in str(reason)
        assert (await ended("put_off"))[0] == "scheduled"
        assert await ended.spent() == "4.5"
        # HARD_STOP: over by what a call cost more than was reserved. No retry.
        await adrive(apg, budgets.correct("ai", "0.51", reason="the provider's bill says more"))
        for job_type in ("tag", "tag_in_thread", "tag_in_child", "declared"):
            assert await ended(job_type) == ("dead_letter", None, "budget_exhausted")
        assert await ended("declared_child") == ("failed", None, "budget_exhausted")
        cursor = await apg.execute(
            "select distinct error_code, attempts from postmill.dead_letter where reason like '%exhausted'"
        )
        assert await cursor.fetchall() == [("budget_exhausted", 1)]
        # A limit that is raised counts at once.
        await adrive(apg, budgets.set_budget("ai", limit=50))
        assert (await ended("declared"))[1] == "ran"
        page = render(worker.counters).decode()
    lines = page.splitlines()
    assert 'job_budget_consumed_dollars{job_type="tag"} 3.15' in lines
    assert 'job_budget_consumed_dollars{job_type="tag_in_child"} 0.4' in lines
    assert 'postmill_budget_throttles_total{job_type="declared",queue="default",action="defer"} 1' in lines
    assert 'postmill_budget_throttles_total{job_type="tag",queue="default",action="stop"} 2' in lines
    assert len(told) == 6
