"""`STOCK_REFRESH`: prices from Alpha Vantage, of which 25 a day are free; what cannot be had stays, and is called stale."""

from __future__ import annotations

from typing import Any

from examples.homepage.handling import handles, schedules
from examples.homepage.job_types import JobType
from examples.homepage.resources import database
from examples.homepage.rss.telemetry import event
from examples.homepage.statements import row
from examples.homepage.stocks import telemetry
from examples.homepage.stocks.client import quotes
from examples.homepage.stocks.refresh import refresh
from postmill import Context, Idempotency, Mode


@handles(
    JobType.STOCK_REFRESH,
    timeout=180,
    # While one waits for its next attempt the service is in trouble, and further ones would only spend the day's requests.
    idempotency=Idempotency(Mode.ACTIVE, key="stocks"),
    action="Ask whether Alpha Vantage is up; stock_prices shows what is stale",
)
async def StockRefreshJobHandler(ctx: Context) -> dict[str, Any]:
    """Refreshes what the day's requests allow by now. Spent or limited requests are no failure: the old quotes are served."""
    pool = ctx.resource(database)
    async with pool.connection() as conn:
        before = await row(conn, "stock_standing")
    assert before is not None
    run = await refresh(pool, ctx.resource(quotes), before["now"], haste=ctx.attempt > 1)
    async with pool.connection() as conn:
        now = await row(conn, "stock_standing")
    assert now is not None
    told = {name: now[name] for name in ("symbols", "stale", "used")} | {"refreshed": run.refreshed}
    telemetry.stale.labels().set(now["stale"])
    event("stocks.refreshed", told)
    if now["stale"]:
        reason = "day_spent" if now["spent"] else "limited" if run.limited else "not_yet"
        telemetry.fallbacks.labels(reason=reason).inc()
        event("stocks.stale", {"stale": now["stale"], "reason": reason})
        ctx.log.info("stale_quotes_served", reason=reason, **told)
    return told


[StocksInMarketHours, StocksAfterHours, StocksAtWeekends] = schedules(
    JobType.STOCK_REFRESH, StockRefreshJobHandler
)
