"""`/admin/api/ai-usage`: what AI tagging has used, and the limit of each month."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException, Query, Request, status

from examples.homepage.admin.ai_shapes import BudgetLimit, Cost, Month, Usage, UsageNow
from examples.homepage.statements import row, rows

ai_usage = APIRouter(prefix="/ai-usage")

_NONE = "there is no budget `ai-tagging` yet; a worker with homepage.yaml makes it"
_REFUSED = {
    "unknown": (status.HTTP_404_NOT_FOUND, _NONE),
    "over": (status.HTTP_409_CONFLICT, "that month is over"),
    "no_period": (status.HTTP_404_NOT_FOUND, "there is no such month within two years"),
}


@ai_usage.get("")
async def current(request: Request) -> UsageNow:
    """This month: the level, and how much is left."""
    async with request.app.state.pool.connection() as conn:
        found = await row(conn, "ai_usage_now")
    if found is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, _NONE)
    return UsageNow.of(found)


@ai_usage.get("/history")
async def history(request: Request, months: Annotated[int, Query(ge=1, le=120)] = 12) -> list[Usage]:
    """The last months in which something was used, this one included, the newest first."""
    async with request.app.state.pool.connection() as conn:
        return [Usage.of(one) for one in await rows(conn, "ai_usage_history", months=months)]


@ai_usage.get("/{month}/costs")
async def costs(request: Request, month: Month, by: Literal["job_type", "actor"] = "job_type") -> list[Cost]:
    """What a month's money went to, the most first: by job type, or by who caused the jobs, as `user:admin`."""
    async with request.app.state.pool.connection() as conn:
        return [Cost(**one) for one in await rows(conn, "ai_usage_costs", month=month, by=by)]


@ai_usage.patch("/{month}/budget")
async def limit(request: Request, month: Month, asked: BudgetLimit) -> Usage:
    """Give a month another limit, the present one at once, or a coming one; other months stay as they are."""
    async with request.app.state.pool.connection() as conn:
        told = await row(conn, "ai_budget_limit", month=month, cents=asked.budget_limit_cents)
        if told is not None and told["status"] in _REFUSED:
            code, why = _REFUSED[told["status"]]
            raise HTTPException(code, f"{month}: {why}")
        found = await row(conn, "ai_usage_month", month=month)
    if found is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, _NONE)
    return Usage.of(found)
