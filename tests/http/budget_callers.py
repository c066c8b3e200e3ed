"""What a caller does with budgets, and a worker that spends from them."""

from __future__ import annotations

from decimal import Decimal
from uuid import uuid4

import pytest

from postmill.http import (
    AsyncApiClient,
    BudgetChanges,
    BudgetLevel,
    Conflict,
    NewDefinition,
    NotFound,
    Refused,
    WholeBudget,
)


async def budgets(admin: AsyncApiClient) -> None:
    made = await admin.budgets.put("ai-tagging", WholeBudget(limit=Decimal("5.00"), reason="P10"))
    assert (made.limit, made.period, made.unit, made.alerts["90"]) == (5, "month", "USD", "warning")
    assert (made.standing.level, made.standing.spent) == ("NORMAL", 0)
    levels = {"queue": BudgetLevel(action="run", factor=Decimal("0.25"))}
    changed = await admin.budgets.change("AI_tagging", BudgetChanges(levels=levels, limit=Decimal(6)))
    assert (changed.levels["queue"].action, changed.levels["hard_stop"].action) == ("run", "stop")
    assert changed.levels["queue"].factor == Decimal("0.25")
    period = changed.standing.period
    assert (
        await admin.budgets.limit_period(made.id, period, 5, reason="a month of less")
    ).standing.limit == 5
    corrected = await admin.budgets.correct("ai-tagging", 4.75, "before Postmill", tokens_in=10)
    assert (corrected.standing.spent, corrected.standing.percent) == (Decimal("4.75"), 95)
    (line,) = [one async for one in admin.budgets.each_line("ai-tagging", period=period)]
    assert (line.kind, line.amount, line.reason) == ("correct", Decimal("4.75"), "before Postmill")
    assert (await admin.budgets.lines("ai-tagging")).items == [line]
    (past,) = (await admin.budgets.history("ai-tagging", months=12)).items
    assert [(alert.percent, alert.severity) for alert in past.alerts] == [
        (75, "info"),
        (80, "info"),
        (90, "warning"),
    ]
    (share,) = (await admin.budgets.breakdown("ai-tagging", by="actor", period=period)).items
    assert (share.amount, share.calls) == (Decimal("4.75"), 0)
    await admin.tenants.get("mill")
    await admin.budgets.put("ai-tagging", WholeBudget(limit=Decimal(3)), tenant="mill")
    assert [one.name async for one in admin.budgets.each()] == ["ai-tagging"] * 2
    assert [one.limit for one in (await admin.budgets.list(tenant="mill")).items] == [3]
    over = changed.standing.ends_at
    raised = await admin.budgets.limit_period(made.id, period, 9, until=over, reason="a fair")
    assert raised.standing.limit == 9
    await admin.budgets.limit_period(made.id, period, 5, reason="the fair is over")
    asked = await admin.budgets.request("ai-tagging", 4, "more", tenant="mill", until=over)
    assert (asked.status, asked.limit, asked.tenant_slug) == ("open", 4, "mill")
    assert (await admin.budgets.grant(asked.id, "until then")).status == "granted"
    assert (await admin.budgets.get("ai-tagging", tenant="mill")).standing.limit == 4
    again = await admin.budgets.request("ai-tagging", 40, "much more", tenant="mill")
    assert (await admin.budgets.decline(again.id, "no")).answer == "no"
    assert [one.status async for one in admin.budgets.each_request()] == ["declined", "granted"]
    assert (await admin.budgets.requests(status="open")).items == []
    with pytest.raises(NotFound, match="did you mean 'ai-tagging'"):
        await admin.budgets.get("ai-taging")
    with pytest.raises(Refused, match="less than nothing"):
        await admin.budgets.correct("ai-tagging", -5, "too much")
    with pytest.raises(Refused, match="names no period"):
        await admin.budgets.limit_period("ai-tagging", "2025-13", 5)
    with pytest.raises(Conflict, match="the period 2025-01 is over"):
        await admin.budgets.limit_period("ai-tagging", "2025-01", 5)
    with pytest.raises(Conflict, match="unit: the budget"):
        await admin.budgets.change("ai-tagging", BudgetChanges(unit="EUR"))


async def spending(admin: AsyncApiClient, worker: AsyncApiClient) -> None:
    await admin.definitions.create(NewDefinition(key="ask-model", kind="http", queue="models"))
    await admin.jobs.enqueue("ask-model")
    (held,) = (await worker.work.claim("w-2", job_types=["ask-model"], wait_seconds=1)).jobs
    job, fence = held.job_id, held.fence
    id = uuid4()
    for _ in range(2):
        granted = await worker.work.reserve(job, fence, "ai-tagging", 0.09, reservation_id=id)
        assert (granted.reservation_id, granted.status, granted.level) == (id, "granted", "QUEUE")
    assert (await admin.budgets.get("ai-tagging")).standing.reserved == Decimal("0.09")
    for _ in range(2):
        settled = await worker.work.settle(job, id, fence, amount=0.08, tokens_in=10, tokens_out=2)
        assert settled.status == "spent"
    standing = (await admin.budgets.get("ai-tagging")).standing
    assert (standing.spent, standing.reserved, standing.calls) == (Decimal("4.83"), 0, 1)
    assert (await worker.work.reserve(job, fence, "ai-tagging", 0.2)).status == "deferred"
    assert (await worker.work.reserve(job, fence, "ai-tagging", 6)).status == "stopped"
    planned = await worker.work.reserve(job, fence, "ai-tagging", 0.01, started=False)
    assert (await worker.work.start(job, planned.reservation_id, fence)).status == "granted"
    assert (await worker.work.release(job, planned.reservation_id, fence)).status == "released"
    with pytest.raises(Conflict):
        await worker.work.start(job, planned.reservation_id, fence)
    with pytest.raises(NotFound):
        await worker.work.reserve(job, fence, "nothing", 0.01)
    with pytest.raises(NotFound):
        await worker.work.settle(job, uuid4(), fence)
    await worker.work.complete(job, fence)
    with pytest.raises(Conflict):
        await worker.work.reserve(job, fence, "ai-tagging", 0.01)
    assert 'job_budget_consumed_dollars{job_type="ask-model"} 0.08' in await admin.health.metrics()
