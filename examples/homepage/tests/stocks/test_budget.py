"""25 requests a day: never more, whoever asks at once; spread over the day; a fair turn for each symbol."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import psycopg
import pytest

from examples.homepage.stocks.refresh import refresh
from examples.homepage.tests.site import Site
from examples.homepage.tests.stocks import clock
from examples.upstreams.alphavantage.server import AlphaVantageServer


async def symbols(site: Site, count: int) -> None:
    await site.conn.execute(
        "insert into stocks (symbol) select 'S' || lpad(n::text, 3, '0') from generate_series(1, %s) n",
        (count,),
    )


async def runs(site: Site, begin: datetime, minutes: range) -> list[tuple[datetime, int]]:
    """Runs so many minutes after a moment, and how many quotes each has brought. One connection, whose clock is turned."""
    made = []
    async with clock.pool(site, begin, connections=1) as pool, clock.client() as client:
        for minute in minutes:
            moment = begin + timedelta(minutes=minute)
            async with pool.connection() as conn:
                await conn.execute(f"set postmill.clock_offset = '{clock.offset(moment)}'".encode())
            made.append((moment, (await refresh(pool, client, moment)).refreshed))
    return made


@pytest.mark.parametrize("weekday", [3, 5])
async def test_a_run_every_five_minutes_for_more_than_a_day(
    site: Site, upstream: AlphaVantageServer, weekday: int
) -> None:
    """Two days, Thursday to Friday and Saturday to Sunday: 25 a day and no more, all through the day, one after the other."""
    await symbols(site, 10)
    begin = clock.upcoming(weekday)
    made = await runs(site, begin, range(0, 2 * 1440, 5))
    by_day: dict[int, list[datetime]] = {0: [], 1: []}
    for moment, count in made:
        assert count <= 1, "never several at once, as long as a worker runs"
        by_day[(moment.date() - begin.date()).days] += [moment] * count
    for day in by_day.values():
        assert len(day) == 25
        in_hours = [m for m in day if "09:30" <= f"{m:%H:%M}" <= "16:00"]
        gaps = [b - a for a, b in pairwise(in_hours)]
        if weekday == 3:
            assert len(in_hours) == 22
            assert max(gaps) <= timedelta(minutes=20)
        else:
            assert max(b - a for a, b in pairwise(day)) <= timedelta(hours=1)
    assert Counter(upstream.quoted) == dict.fromkeys((f"S{n:03}" for n in range(1, 11)), 5)
    assert upstream.quoted[:10] == upstream.quoted[10:20], "who has waited longest comes first"


async def test_many_workers_at_once_never_exceed_it(site: Site, upstream: AlphaVantageServer) -> None:
    """Forty runs at one moment of the evening share what is left; no symbol is asked for twice among them."""
    await symbols(site, 60)
    evening = clock.upcoming(2, "22:00")
    async with clock.pool(site, evening) as pool, clock.client() as client:
        done = await asyncio.gather(*(refresh(pool, client, evening) for _ in range(40)))
    assert sum(run.refreshed for run in done) == 25
    assert max(run.refreshed for run in done) <= 5
    assert len(set(upstream.quoted)) == len(upstream.quoted) == 25
    assert [r["used"] for r in await site.rows("select used from stock_requests")] == [25]


async def test_the_day_is_that_of_new_york(site: Site, upstream: AlphaVantageServer) -> None:
    """Also where the clocks change: 23 and 25 hours long, and 25 requests each."""
    await symbols(site, 5)
    for date, hours in (("2027-03-14", 23), ("2027-11-07", 25)):
        before = len(upstream.quoted)
        begin = clock.newyork(f"{date} 00:00")
        # Hours that pass, not hours on the wall.
        await runs(site, begin.astimezone(UTC), range(0, hours * 60, 30))
        assert len(upstream.quoted) - before == 25
    days = [str(r["day"]) for r in await site.rows("select day from stock_requests order by day")]
    assert days == ["2027-03-14", "2027-11-07"]


async def test_the_table_itself_knows_no_26th(site: Site) -> None:
    """Whoever writes to it."""
    with pytest.raises(psycopg.errors.CheckViolation):
        await site.conn.execute("insert into stock_requests values ('2026-12-01', 26, 25)")
