"""One simulated week: every type runs as often as its cadence says, queues keep their promises, digests come once a day.

It begins twelve hours before November, so it has the end of a month and the Sunday on which New York's clocks go back.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from examples.homepage.tests.week.checks import cadences, digests, promises
from examples.homepage.tests.week.october import PRICES, each_month_for_itself, the_budget_begins_anew
from examples.homepage.tests.week.people import a_day, what_came_of_it
from examples.homepage.tests.week.scene import Scene


def last_of_october() -> datetime:
    """Noon (UTC) of the next one."""
    now = datetime.now(UTC)
    noon = datetime(now.year, 10, 31, 12, tzinfo=UTC)
    return noon if noon > now else noon.replace(year=now.year + 1)


async def test_an_hour_of_a_sunday(scene: Scene) -> None:
    """The short form: one hour, in which what runs daily and weekly does, and the digest comes."""
    november = last_of_october() + timedelta(hours=12)
    sunday = november + timedelta(days=(6 - november.weekday()) % 7)
    begin, failure, end = (sunday + timedelta(hours=hours) for hours in (2.95, 3.6, 4.05))
    early = scene.digest_at("03:45")
    async with early.begun(begin) as simulation:
        for stop in (failure, end):
            await simulation.to(stop)
            await early.fail(simulation)
    await cadences(scene.site, begin, end)
    await promises(scene.site, begin)
    await digests(early, [failure, end], end)


@pytest.mark.long
async def test_a_week(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The long form: 10,080 minutes, in which people are about, and the AI budget of a month is used up."""
    for name, price in PRICES.items():
        monkeypatch.setenv(name, price)
    begin = last_of_october()
    end = begin + timedelta(days=7)
    days = [begin + timedelta(days=day, hours=-1) for day in range(1, 8)]
    async with scene.begun(begin) as simulation:
        october = await the_budget_begins_anew(scene.site, simulation, begin + timedelta(hours=12))
        for number, moment in enumerate(days, 1):
            await simulation.to(moment)
            await a_day(scene, number)
            await scene.fail(simulation)
        await simulation.to(end)
    await cadences(scene.site, begin, end)
    await promises(scene.site, begin)
    await digests(scene, days, end)
    await each_month_for_itself(scene.site, october)
    await what_came_of_it(scene, days, end)
