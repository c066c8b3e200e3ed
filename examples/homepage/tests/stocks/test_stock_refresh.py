"""`STOCK_REFRESH` as a job: quotes, notes in place of them, the stale cache, outages, and a key that nobody gets to see."""

from __future__ import annotations

import logging

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from examples.homepage.tests.site import Site, happenings
from examples.homepage.tests.stocks import clock
from examples.upstreams.alphavantage import server
from examples.upstreams.alphavantage.server import SPENT, TOO_QUICK, AlphaVantageServer, quote
from examples.upstreams.script import Answer

OPEN = "11:00"
LIMITS = [
    ("Information", SPENT.format(key="KEY-OF-THE-STAND-IN", most=25), "day_spent"),
    ("Note", TOO_QUICK, "limited"),
]


async def stocks(site: Site, *symbols: str) -> None:
    for symbol in symbols:
        await site.conn.execute("insert into stocks (symbol) values (%s)", (symbol,))


def at(time: str, weekday: int = 1) -> str:
    return clock.offset(clock.upcoming(weekday, time))


async def stale(site: Site, later: str) -> dict[str, bool]:
    """What the page shows so much later."""
    await site.conn.execute(f"set postmill.clock_offset = '{later}'".encode())
    found = {r["symbol"]: r["stale"] for r in await site.rows("select symbol, stale from stock_prices")}
    await site.conn.execute("reset postmill.clock_offset")
    return found


async def test_quotes_are_kept_and_those_without_are_noted(site: Site, upstream: AlphaVantageServer) -> None:
    await stocks(site, "IBM", "NONESUCH")
    job = await site.enqueue("STOCK_REFRESH")
    [span] = await site.run(at(OPEN))
    assert (await site.job(job))["result"] == {"symbols": 2, "stale": 1, "used": 2, "refreshed": 1}
    row = await site.row("select * from stocks where symbol = 'IBM'")
    assert (f"{row['price']}", f"{row['change_percent']}", row["volume"]) == ("101.2500", "1.2500", 3191840)
    assert (row["trading_day"].isoformat(), row["last_error"]) == ("2026-11-27", None)
    row = await site.row("select * from stocks where symbol = 'NONESUCH'")
    assert (row["price"], row["last_error"]) == (None, "the service has no quote of the symbol")
    assert happenings(span)[-1] == ("stocks.stale", {"stale": 1, "reason": "not_yet"})
    assert REGISTRY.get_sample_value("stocks_stale") == 1
    assert upstream.requests[0].headers["user-agent"].startswith("VillageHomepage/")


async def test_what_is_stale_when(site: Site, upstream: AlphaVantageServer) -> None:
    """Five minutes in market hours; a quote of after the close is good until the market opens, over the weekend too."""
    await stocks(site, "IBM")
    friday = clock.upcoming(4, "16:30")
    await site.conn.execute("update stocks set fetched_at = %s", (friday,))
    shown = {}
    for label, minutes in {
        "evening": 120,
        "sunday": 48 * 60,
        "monday early": 64 * 60,
        "monday open": 66 * 60,
    }.items():
        moment = clock.later(friday, minutes)
        shown[label] = (await stale(site, clock.offset(moment)))["IBM"]
    assert shown == {"evening": False, "sunday": False, "monday early": False, "monday open": True}
    await site.conn.execute("update stocks set fetched_at = %s", (clock.upcoming(4, "15:59"),))
    assert await stale(site, clock.offset(clock.upcoming(4, "16:05"))) == {"IBM": True}
    assert upstream.quoted == []


@pytest.mark.parametrize(("field", "text", "reason"), LIMITS)
async def test_a_note_in_place_of_a_quote_leaves_the_old_one(
    site: Site, upstream: AlphaVantageServer, field: str, text: str, reason: str
) -> None:
    """The job succeeds, and says that what is shown is old. After a note about the day nothing more is asked that day."""
    await stocks(site, "IBM", "MSFT")
    await site.conn.execute("update stocks set price = 7, fetched_at = postmill.now()")
    upstream.notes.append((field, text))
    job = await site.enqueue("STOCK_REFRESH")
    [span] = await site.run(at(OPEN))
    found = await site.job(job)
    assert (found["state"], found["result"]["stale"], found["result"]["refreshed"]) == ("succeeded", 2, 0)
    assert happenings(span)[-1] == ("stocks.stale", {"stale": 2, "reason": reason})
    assert {row["price"] for row in await site.rows("select price from stock_prices")} == {7}
    await site.enqueue("STOCK_REFRESH")
    await site.run(at("12:00"))
    assert upstream.asked["/query"] == (1 if reason == "day_spent" else 3)


async def test_an_outage_is_told_and_does_not_eat_the_day(site: Site, upstream: AlphaVantageServer) -> None:
    """Five attempts, one request each, then a dead letter, of which PagerDuty hears; the next run waits for its hour."""
    await stocks(site, "IBM", "MSFT")
    upstream.days["/query"] = [
        Answer(status=503), Answer(body="garbage"), Answer(body="none"), Answer(body="cut"), Answer(status=500),
    ]  # fmt: skip
    job = await site.enqueue("STOCK_REFRESH")
    await site.run(at("09:30"), hurry=True)
    found = await site.job(job)
    assert (found["state"], found["attempt"], upstream.asked["/query"]) == ("dead_letter", 5, 5)
    again = await site.enqueue("STOCK_REFRESH")
    await site.run(at("09:35"))
    assert (await site.job(again))["result"] == {"symbols": 2, "stale": 2, "used": 5, "refreshed": 0}
    assert upstream.asked["/query"] == 5


async def test_without_a_key_no_request_is_spent(
    site: Site, upstream: AlphaVantageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker serves all the same; the job is given up at once, and says what is missing."""
    monkeypatch.delenv("ALPHAVANTAGE_API_KEY")
    await stocks(site, "IBM")
    job = await site.enqueue("STOCK_REFRESH")
    await site.run(at(OPEN))
    found = await site.job(job)
    assert (found["state"], found["attempt"], upstream.requests) == ("dead_letter", 1, [])
    assert await site.rows("select * from stock_requests") == []


async def test_a_price_without_end_is_garbage(
    site: Site, upstream: AlphaVantageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "quote", lambda symbol, number: quote(symbol, number) | {"05. price": "1e30"})
    await stocks(site, "IBM")
    await site.enqueue("STOCK_REFRESH")
    await site.run(at(OPEN))
    assert (await site.row("select last_error from stocks")) == {"last_error": "alphavantage: garbage"}


async def test_one_run_at_a_time(site: Site, upstream: AlphaVantageServer) -> None:
    """A tick that finds a job makes no second one."""
    first, second = [await site.enqueue("STOCK_REFRESH") for _ in range(2)]
    assert first == second


async def test_the_key_is_nowhere(
    site: Site, upstream: AlphaVantageServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Not in logs (those of HTTP at their most talkative), spans, rows or errors: also where the note itself has it."""
    await stocks(site, "IBM")
    upstream.notes.append(("Information", SPENT.format(key=upstream.key, most=25)))
    upstream.days["/query"] = [Answer(status=500)]
    with capture_logs() as lines, caplog.at_level(logging.DEBUG):
        await site.enqueue("STOCK_REFRESH")
        spans = await site.run(at(OPEN), hurry=True)
    kept = await site.rows(
        "select to_jsonb(j) from postmill.jobs j union all select to_jsonb(s) from stocks s"
    )
    told = "".join([str(lines), caplog.text, str(kept), *(span.to_json() for span in spans)])
    assert "alphavantage" in told
    assert upstream.asked["/query"] == 2
    assert upstream.key not in told
    upstream.key = "another"
    wrong = await site.enqueue("STOCK_REFRESH")
    await site.run(at(OPEN, 2))
    assert ((await site.job(wrong))["state"], (await site.job(wrong))["attempt"]) == ("dead_letter", 1)
