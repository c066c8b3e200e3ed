"""Section 13 of the design: a run, what it keeps, tells and counts, and the four levels of the budget."""

from __future__ import annotations

import pytest

from examples.homepage.tests.ai.newsroom import Newsroom, metric
from examples.homepage.tests.site import happenings

TAGS = {
    "topics": ["Company", "Market", "Robots", "Win", "Chip"],
    "sentiment": "positive",
    "categories": ["Business", "Technology", "Sports"],
    "confidence": 0.9,
}


async def test_a_run_tags_counts_and_tells(news: Newsroom) -> None:
    """Tags as the design has them, the span's events, the metrics, and each request in the month's account."""
    await news.write(3)
    before = metric("ai_tagging_cost_cents_total")
    ok, tokens = (
        metric("ai_tagging_items_total", status="success"),
        metric("ai_tagging_tokens_total", type="input"),
    )
    [span] = await news.run(untagged_count=150)
    events = happenings(span)
    assert [name for name, _ in events] == ["budget_check", *["item.tagged"] * 3, "budget_check"]
    assert events[0][1] == {"budget_action": "NORMAL", "percent_used": 0.0}
    rows = await news.site.rows(
        "select id, ai_tags, ai_tagged, ai_not_before from feed_items order by fetched_at"
    )
    told = dict(events[1][1])
    assert told.pop("item_id") == str(rows[0]["id"])
    assert {name: list(value) if isinstance(value, tuple) else value for name, value in told.items()} == {
        name: TAGS[name] for name in ("topics", "sentiment", "categories")
    }
    assert [(row["ai_tags"], row["ai_tagged"], row["ai_not_before"]) for row in rows] == [
        (TAGS, True, None)
    ] * 3
    usage = await news.now()
    assert (usage["totalRequests"], usage["provider"]) == (3, "anthropic")
    assert [usage["totalTokensInput"], usage["totalTokensOutput"]] == news.model.tokens
    cents = (news.model.tokens[0] * 3 + news.model.tokens[1] * 15) / 10_000
    assert usage["estimatedCostCents"] == pytest.approx(cents, abs=1e-9)
    assert metric("ai_tagging_cost_cents_total") - before == pytest.approx(cents)
    assert metric("ai_tagging_items_total", status="success") - ok == 3
    assert metric("ai_tagging_tokens_total", type="input") - tokens == news.model.tokens[0]
    assert metric("ai_budget_percent_used") == float(int(cents * 100 * 100 / 50_000)) / 100
    assert await news.results() == [{"tagged": 3, "failed": 0, "batches": 1, "ended": "done"}]


async def test_nothing_to_tag_asks_nobody(news: Newsroom) -> None:
    [span] = await news.run()
    assert happenings(span) == []
    assert await news.results() == [{"skipped": "nothing is untagged"}]


@pytest.mark.parametrize(
    ("used", "level", "batches"),
    [
        (74.0, "NORMAL", [20, 5]), (75.0, "REDUCE", [10, 10, 5]), (89.9, "REDUCE", [10, 10, 5]),
        (90.0, "QUEUE", []), (100.0, "HARD_STOP", []),
    ],
)  # fmt: skip
async def test_the_four_levels(news: Newsroom, used: float, level: str, batches: list[int]) -> None:
    """Batches of 20, 10, 0 and 0; what is deferred has succeeded, what is stopped is given up at once."""
    await news.write(25)
    await news.spend(used)
    throttles = metric("ai_tagging_budget_throttles_total")
    [span] = await news.run()
    events = happenings(span)
    checks = [told for name, told in events if name == "budget_check"]
    assert checks[0] == {"budget_action": level, "percent_used": used}
    assert await news.tagged() == sum(batches) == len(news.model.requests)
    if batches:
        assert len(checks) == len(batches) + 1, "before each batch, and once more to see that nothing is left"
        assert metric("ai_tagging_budget_throttles_total") == throttles
        return
    assert events[1:] == [("budget_throttle", {"budget_action": level})]
    assert metric("ai_tagging_budget_throttles_total") == throttles + 1
    assert (await news.now())["budgetAction"] == level
    dead = await news.site.rows("select attempts, reason from delayed_jobs_dlq")
    assert dead == ([] if level == "QUEUE" else [{"attempts": 1, "reason": "budget_exhausted"}])


async def test_an_hour_is_at_most_twelve_batches(news: Newsroom) -> None:
    """12 × 20; the next hour goes on with what is left."""
    await news.write(243)
    await news.run()
    assert await news.tagged() == 240
    await news.run("1 hour")
    assert await news.tagged() == 243
    assert [one["batches"] for one in await news.results()] == [12, 1]
