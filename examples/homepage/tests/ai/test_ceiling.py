"""The ceiling of the budget: levels that are crossed in the middle of a batch, and two workers at one time."""

from __future__ import annotations

from examples.homepage.tests.ai.newsroom import Newsroom
from examples.homepage.tests.labour import labouring
from examples.homepage.tests.site import happenings
from examples.upstreams.anthropic.replies import Reply
from tests.support.workers import until


async def test_levels_crossed_in_the_middle_of_a_batch(news: Newsroom) -> None:
    """From NORMAL to REDUCE the next batch is smaller; from there to QUEUE the batch ends before the call that is too much."""
    await news.write(60)
    await news.limit(100)
    # 1.8 cents each: 75 % are reached at the 42nd, 90 % at the 50th.
    news.model.judge = lambda article: Reply(usage=(1000, 1000))
    [span] = await news.run()
    events = happenings(span)
    levels = [told["budget_action"] for name, told in events if name == "budget_check"]
    assert levels == ["NORMAL", "NORMAL", "NORMAL", "REDUCE"][: len(levels)]
    [ended] = [told for name, told in events if name == "budget_exhausted_mid_batch"]
    tagged = await news.tagged()
    assert ended == {"tagged_count": tagged, "total_count": 60}
    usage = await news.now()
    assert (usage["budgetAction"], usage["estimatedCostCents"]) == ("QUEUE", tagged * 1.8)
    assert 90 <= usage["percentUsed"] < 100
    left = await news.site.rows("select id from feed_items where ai_not_before is not null")
    assert left == [], "what was taken and not asked about is free"
    incidents = "select percent::int as percent, severity from postmill.budget_alert order by percent"
    assert [(row["percent"], row["severity"]) for row in await news.site.rows(incidents)] == [
        (75, "info"),
        (80, "info"),
        (90, "warning"),
    ]
    await news.limit(200)
    await news.run()
    assert await news.tagged() == 60, "resumed as the budget permits"


async def test_two_workers_at_one_time_stay_below_the_ceiling(news: Newsroom) -> None:
    """Their calls overlap; no item is asked about twice, and what is spent and reserved never comes above the limit."""
    await news.write(40)
    await news.limit(40)
    news.model.judge = lambda article: Reply(usage=(1000, 1000))
    news.model.open.clear()
    for _ in range(2):
        await news.site.enqueue("AI_TAGGING", trigger="manual")
    async with labouring(news.site.dsn) as one, labouring(news.site.dsn):
        await until(lambda: news.model.waiting == 2)
        assert (await news.now())["reservedCents"] > 0
        news.model.open.set()
        await one.idle()
    usage = await news.now()
    assert 0 < usage["estimatedCostCents"] <= 40
    asked = [request["messages"][0]["content"] for request in news.model.requests]
    assert len(asked) == len(set(asked)) == await news.tagged()
    peak = "select max(spent + reserved) * 100 as peak from postmill.budget_balance"
    assert (await news.site.row(peak))["peak"] <= 40
