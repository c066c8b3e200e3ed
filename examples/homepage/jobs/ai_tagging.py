"""`AI_TAGGING`: what is new gets topics, sentiment and categories, as far as the month's budget goes."""

from __future__ import annotations

from typing import Any, Literal

from examples.homepage.handling import handles, schedules
from examples.homepage.job_types import JobType
from examples.homepage.resources import database
from examples.homepage.tagging import store, telemetry
from examples.homepage.tagging.errors import Refused
from examples.homepage.tagging.items import Items
from examples.homepage.tagging.resources import tagger
from examples.homepage.tagging.run import Run, checked
from postmill import BudgetDeferred, BudgetExhausted, Bury, Context

BUDGET = "ai-tagging"
REFUSED = "ai_service_refused"
"""The reason of dead letters where the service takes no question at all."""


@handles(
    JobType.AI_TAGGING,
    # 240 items of 5 s each are 20 minutes; the next hour has a run of its own.
    timeout=3300,
    log_fields=("trigger", "untagged_count"),
    escalation_fields=("trigger",),
    action="GET /admin/api/ai-usage; then docs/how-to/ai-budget.md",
)
async def AiTaggingJobHandler(
    ctx: Context, trigger: Literal["scheduled", "manual"] = "scheduled", untagged_count: int | None = None
) -> dict[str, Any]:
    """Tags items that have no tags. `trigger` and `untagged_count` are told, and change nothing."""
    pool, service = ctx.resource(database), ctx.resource(tagger)
    async with pool.connection() as conn:
        waiting = await store.untagged(conn)
    if not waiting:
        return {"skipped": "nothing is untagged"}
    ctx.log.info("tagging_started", trigger=trigger, untagged=waiting, untagged_at_enqueue=untagged_count)
    budget = await ctx.budget(BUDGET)
    checked(budget.standing)
    try:
        await budget.acheck()
    except (BudgetDeferred, BudgetExhausted):
        telemetry.throttles.labels().inc()
        telemetry.event("budget_throttle", {"budget_action": budget.level.value})
        ctx.log.warning("budget_throttle", budget_action=budget.level.value, percent=float(budget.percent))
        raise
    try:
        return await Run(Items(pool, service, budget, ctx.log), waiting).work()
    except Refused as error:
        raise Bury(REFUSED) from error
    finally:
        telemetry.percent_used.labels().set(float((await budget.alook()).percent))


[AiTaggingScheduler] = schedules(JobType.AI_TAGGING, AiTaggingJobHandler)
