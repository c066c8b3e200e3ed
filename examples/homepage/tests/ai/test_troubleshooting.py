"""The troubleshooting guide of section 13: each of its symptoms, what it is diagnosed by, and what helps."""

from __future__ import annotations

import pytest

from examples.homepage.tests.ai.newsroom import Newsroom
from examples.upstreams.anthropic.replies import Reply


async def test_no_tags_although_the_job_runs(news: Newsroom) -> None:
    """The level says so; a higher limit helps at once."""
    await news.write(1)
    await news.spend(95)
    await news.run()
    assert (await news.now())["budgetAction"] == "QUEUE"
    await news.limit(100_000)
    await news.run()
    assert await news.tagged() == 1


async def test_many_failures_and_a_longer_answer(news: Newsroom, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log and `ai_error` have what was said; here answers are cut, and `AI_MAX_TOKENS` is raised."""
    await news.write(2)
    news.model.planned.extend([Reply('{"topics": ["a', stop_reason="max_tokens")] * 2)
    await news.run()
    errors = await news.site.rows("select ai_error from feed_items")
    assert {row["ai_error"] for row in errors} == {
        'Failed to parse Claude response: cut (max_tokens)\n{"topics": ["a'
    }
    monkeypatch.setenv("AI_MAX_TOKENS", "800")
    await news.run("1 hour")
    assert (await news.tagged(), news.model.requests[-1]["max_tokens"]) == (2, 800)


async def test_a_budget_that_goes_on_long_content(news: Newsroom, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens a request are in `ai_usage_tracking`; `MAX_CONTENT_LENGTH` makes them fewer."""
    tokens = []
    for longest in ("4000", "100"):
        monkeypatch.setenv("MAX_CONTENT_LENGTH", longest)
        await news.write(1, "long " * 2000)
        before = (await news.now())["totalTokensInput"]
        await news.run()
        tokens.append((await news.now())["totalTokensInput"] - before)
    assert tokens[0] > 1000 > tokens[1] * 2


async def test_low_confidence(news: Newsroom) -> None:
    await news.write(2)
    news.model.planned.append(
        Reply('{"topics": ["a", "b", "c"], "sentiment": "mixed", "categories": ["World"], "confidence": 0.2}')
    )
    await news.run()
    sample = "select title from feed_items where (ai_tags->>'confidence')::float8 < 0.5"
    assert len(await news.site.rows(sample)) == 1
