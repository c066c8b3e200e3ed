"""The last day of a month whose AI budget is nearly used up, and the first of the next."""

from __future__ import annotations

from datetime import datetime, timedelta

from examples.homepage.tests.site import Row, Site
from examples.homepage.tests.week.simulation import Simulation

PRICES = {"AI_PRICE_IN": "800", "AI_PRICE_OUT": "4000"}
"""USD for a million tokens: a question is about 20 cents, and an afternoon of them some per cent of the budget."""
SPENT = "update ai_usage_tracking set estimated_cost_cents = budget_limit_cents * 0.89"
UNTAGGED = "select count(*) as n from feed_items where not ai_tagged and fetched_at < %s"
ALERTS = "select title from postmill.incident where kind = 'budget' order by title"
TAGGED = "select count(*) as n from feed_items where ai_tagged"


async def usage(site: Site, path: str = "") -> Row:
    """What the admin API says of the budget."""
    answer = await site.http.get(f"/admin/api/ai-usage{path}")
    assert answer.status_code == 200, answer.text
    found: Row = answer.json()
    return found


async def the_budget_begins_anew(site: Site, simulation: Simulation, november: datetime) -> Row:
    """In the afternoon the last of the budget goes, and tags wait; at midnight they go on. October as it was at its end."""
    await site.rows(SPENT)
    await simulation.to(november - timedelta(minutes=1))
    october = await usage(site)
    assert (october["month"], october["budgetAction"]) == (f"{november.year}-10", "QUEUE"), october
    assert 90 <= october["percentUsed"] < 100, october
    assert (await site.row(UNTAGGED, november))["n"] > 0
    await simulation.to(november)
    now = await usage(site)
    assert (now["month"], now["budgetAction"]) == (f"{november.year}-11", "NORMAL"), now
    assert (await site.row(UNTAGGED, november))["n"] == 0
    return october


async def each_month_for_itself(site: Site, october: Row) -> None:
    """November has its own calls only, and nothing was added to October; of that people were told, at each threshold once."""
    answer = await site.http.get("/admin/api/ai-usage/history?months=12")
    now, before = answer.json()
    figures = ("month", "totalRequests", "estimatedCostCents", "budgetLimitCents")
    assert [before[name] for name in figures] == [october[name] for name in figures]
    assert now["budgetLimitCents"] == before["budgetLimitCents"] == 50_000
    assert 0 < now["percentUsed"] < 75, now
    assert now["totalRequests"] + before["totalRequests"] == (await site.row(TAGGED))["n"]
    alerts = [row["title"] for row in await site.rows(ALERTS)]
    told = "budget ai-tagging: {} % of 500 USD is used in " + before["month"]
    assert alerts == [told.format(percent) for percent in (75, 80, 90)], alerts
