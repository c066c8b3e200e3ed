"""The table of errors of section 13: what is skipped until the next hour, what ends a run, and what it costs."""

from __future__ import annotations

import math

import pytest

from examples.homepage.tests.ai.newsroom import Newsroom, metric
from examples.homepage.tests.site import happenings
from examples.upstreams.anthropic.replies import Reply, limited


async def test_an_answer_of_no_use_is_skipped_and_asked_for_again_next_hour(news: Newsroom) -> None:
    """The item fails, the batch goes on, the cost is booked; five times, and nobody pays for another one."""
    await news.write(3)
    failures = metric("ai_tagging_items_total", status="failure")
    news.model.planned.append(Reply("I cannot tag this.", usage=(1000, 200)))
    [span] = await news.run()
    names = [name for name, _ in happenings(span)]
    assert names == ["budget_check", "item.failed", "item.tagged", "item.tagged", "budget_check"]
    assert metric("ai_tagging_items_total", status="failure") == failures + 1
    row = await news.site.row("select * from feed_items where not ai_tagged")
    assert row["ai_error"] == "Failed to parse Claude response: no JSON object\nI cannot tag this."
    assert (await news.now())["totalRequests"] == 3
    await news.run()
    assert len(news.model.requests) == 3, "not in this hour"
    for hour in range(1, 7):
        news.model.planned.append(Reply("never"))
        await news.run(f"{hour} hours")
    row = await news.site.row("select * from feed_items where not ai_tagged")
    assert (row["ai_failures"], len(news.model.requests)) == (5, 7)
    news.model.planned.clear()
    await news.site.conn.execute("update feed_items set ai_failures = 0")
    await news.run("8 hours")
    assert await news.tagged() == 3


@pytest.mark.parametrize(
    "wild",
    [
        Reply(usage=(-(10**9), 5)),
        Reply(usage=(10**30, 5)),
        Reply(usage=(math.nan, 5)),
        Reply(usage=(5, math.inf)),
        Reply(body="huge"),
        Reply(body="deep"),
    ],
)
async def test_a_wild_answer_costs_what_it_may_and_keeps_no_other_item(news: Newsroom, wild: Reply) -> None:
    """Not what it says: a run that it ended would begin with the same item, each time."""
    await news.write(3)
    news.model.planned.append(wild)
    await news.run()
    usage = await news.now()
    assert (await news.tagged(), usage["totalRequests"], usage["reservedCents"]) == (2, 3, 0)
    assert 0 < usage["estimatedCostCents"] < 10


async def test_what_is_never_answered_is_skipped(news: Newsroom, monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer in time, a body that drips, one that is cut, a page of a proxy's, a broken service: with the cost that may be."""
    monkeypatch.setenv("AI_TIMEOUT", "0.3")
    await news.write(5)
    news.model.planned.extend(
        [
            Reply(body="slow"),
            Reply(body="cut"),
            Reply(status=500),
            Reply(),
            Reply(body="garbage"),
        ]
    )
    [span] = await news.run()
    errors = [told["error"] for name, told in happenings(span) if name == "item.failed"]
    assert errors[0] == "no answer within 0.3 s"
    assert errors[1].startswith("connection: peer closed connection")
    assert errors[2:] == ["http_500", "no answer that can be read: no message"]
    usage = await news.now()
    assert (await news.tagged(), usage["totalRequests"], usage["reservedCents"]) == (1, 4, 0)
    rows = await news.site.rows("select ai_failures from feed_items where not ai_tagged")
    assert [row["ai_failures"] for row in rows] == [0] * 4, "no fault of the items"


async def test_a_service_that_is_away_ends_the_run(news: Newsroom) -> None:
    await news.write(25)
    news.model.planned.extend([Reply(status=500)] * 5)
    await news.run()
    assert (await news.results())[0]["ended"] == "failures in a row"
    assert (len(news.model.requests), (await news.now())["totalRequests"]) == (5, 0)
    await news.run()
    assert await news.tagged() == 20, "the five are for the next hour"


@pytest.mark.parametrize(
    "reply", [limited("90"), limited("Wed, 21 Oct 2015 07:28:00 GMT"), Reply(status=529)]
)
async def test_a_service_that_is_too_busy(news: Newsroom, reply: Reply) -> None:
    """The job is tried again as the service says; batches come more slowly, and then as before; nothing is booked."""
    await news.write(2)
    news.model.planned.extend([Reply(), reply])
    await news.run()
    [waits] = await news.site.rows("select attempts, scheduled_at - created_at as wait from delayed_jobs")
    assert waits["attempts"] == 2
    assert waits["wait"].total_seconds() >= (90 if "90" in str(reply) else 22.5)
    pace = "select batch_delay from ai_tagging_pace"
    assert (await news.site.row(pace))["batch_delay"] == 0.01
    assert (await news.now())["totalRequests"] == 1
    await news.site.run(hurry=True)
    assert (await news.tagged(), (await news.site.row(pace))["batch_delay"]) == (2, 0)


async def test_a_key_that_is_none(news: Newsroom) -> None:
    """Given up at once: another attempt would be refused, too. What was taken is free again."""
    news.model.key = "another"
    await news.write(1)
    await news.run()
    assert await news.site.rows("select attempts, reason from delayed_jobs_dlq") == [
        {"attempts": 1, "reason": "ai_service_refused"}
    ]
    assert (await news.site.row("select ai_not_before from feed_items"))["ai_not_before"] is None
