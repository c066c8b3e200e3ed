"""One simulated week: every type runs as often as its cadence says, queues keep their promises, digests come once a day.

It begins twelve hours before November, so it has the end of a month and the Sunday on which New York's clocks go back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from examples.homepage.demo.stand_ins import stand_ins
from examples.homepage.queues import BULK
from examples.homepage.statements import FOLDER
from examples.homepage.tests.expected_runs import RUNS, expected
from examples.homepage.tests.labour import ENV
from examples.homepage.tests.simulation import Simulation, simulated
from examples.homepage.tests.site import Site
from examples.homepage.tests.turned_clock import TurnedClock, turned_clock
from examples.upstreams.alerts import judges
from examples.upstreams.alerts.mailbox import Mailbox
from examples.upstreams.alerts.service import AlertService, serve
from postmill import Registry, job
from postmill.bind import arun
from postmill.domain.settings import Settings
from postmill.domain.settings_load import load
from postmill.store.stats import read_stats
from tests.support.databases import Database

SERVED = sorted(Registry.collect("examples.homepage.jobs").names)
TICKS = """
    select k.due, j.status, j.last_error from postmill.tick k
      join postmill.trigger t on t.id = k.trigger_id
      join postmill.job_definition d on d.id = t.definition_id
      join postmill.jobs j on j.id = k.job_id
     where d.key = %s and k.outcome = 'enqueued' and k.due > %s and k.ticks = 1
"""
DIGESTS = """
    select distinct date_trunc('minute', sent_at) as sent from postmill.notification
     where channel = 'email' and status = 'sent' order by 1
"""
FEEDS = ("/changing/growing", "/corpus/atom-1.0.xml")
LATE = "select max(extract(epoch from fired_at - due)) as seconds from postmill.tick"


@job("BULK_IMPORT", queue=BULK.queue, priority=BULK.priority, max_attempts=1)
def bulk_import(file: str) -> None:
    """One that is given up, with another fault for each file."""
    raise ValueError(f"{file} is no list of feeds")


def last_of_october() -> datetime:
    """Noon (UTC) of the next one."""
    now = datetime.now(UTC)
    noon = datetime(now.year, 10, 31, 12, tzinfo=UTC)
    return noon if noon > now else noon.replace(year=now.year + 1)


@pytest.fixture
def clock(emptied: Database) -> Iterator[TurnedClock]:
    """The clock of the test's server."""
    with turned_clock(emptied.server, emptied.name) as made:
        yield made


@pytest.fixture
def mailbox() -> Iterator[tuple[Mailbox, str]]:
    """Where digests go, and its address."""
    made = Mailbox()
    yield made, made.start()
    made.stop()


@pytest.fixture
def world(tmp_path: Path, forked: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The rest of the world, as the demo has it. Who is told of incidents is for `settings`."""
    with ExitStack() as stack:
        _, told = stand_ins(stack, tmp_path, {})
        for name, value in told.items():
            if not name.startswith("POSTMILL_"):
                monkeypatch.setenv(name, value)
        yield


@pytest_asyncio.fixture
async def settings(mailbox: tuple[Mailbox, str]) -> AsyncIterator[Settings]:
    """Those of homepage.yaml, with Slack, PagerDuty and the mail server at stand-ins."""
    slack, pager = AlertService(judges.slack), AlertService(judges.pagerduty)
    stop = serve(slack, pager)
    pagerduty = {"kind": "pagerduty", "key": "pd-key", "url": f"{pager.url}/v2/enqueue"}
    env = ENV | {"SLACK_OPS_WEBHOOK": f"{slack.url}/services/T0/B0/x"}
    more = {"escalation": {"smtp_url": mailbox[1], "channels": {"pagerduty": pagerduty}}}
    yield load(FOLDER / "homepage.yaml", env=env, overrides=more)
    stop()


async def live(site: Site, simulation: Simulation, begin: datetime, *stops: datetime) -> None:
    """The application until the last stop; at each of them an import fails."""
    for stop in stops:
        await simulation.to(stop)
        await site.rows(
            "select postmill.enqueue('BULK_IMPORT', jsonb_build_object('file', %s::text))",
            f"feeds of {stop:%A}",
        )
        await simulation.settle(slow=True)
    for kind in (kind for kind in RUNS if kind in SERVED):
        ticks = await site.rows(TICKS, kind, begin)
        ran, wanted = Counter(tick["due"] for tick in ticks), expected(kind, begin, stops[-1])
        assert ran == wanted, f"{kind}: {ran - wanted} too many, {wanted - ran} missing"
        faults = {(tick["status"], tick["last_error"]) for tick in ticks if tick["status"] != "succeeded"}
        assert not faults, f"{kind}: {faults}"
    assert (await site.row(LATE))["seconds"] < 10


async def promises(site: Site, begin: datetime) -> None:
    """By Postmill's own statistics every queue kept its SLA, and nobody was told of a late one."""
    slas = await site.rows("select name, sla_seconds from postmill.queue where sla_seconds is not null")
    statement = read_stats(since=begin, by="queue")
    measured = {stat.name: stat for stat in await arun(site.conn, statement)}
    for row in slas:
        stat = measured.get(row["name"])
        if stat is not None and stat.ended:
            assert stat.total is not None
            assert stat.total.p95 < row["sla_seconds"], row["name"]
    assert not await site.rows("select title from postmill.incident where kind = 'sla_breach'")


async def play(site: Site, clock: TurnedClock, settings: Settings, post: Mailbox, *stops: datetime) -> None:
    """From the first stop to the last: cadences, promises, and a digest on each day that has something new."""
    begin, end = stops[0], stops[-1]
    clock.turn(begin - timedelta(seconds=1))
    for path in FEEDS:
        await site.source(path)
    stocks = "STOCK_REFRESH" in SERVED
    if stocks:
        await site.rows("insert into stocks (symbol) values ('AAPL'), ('IBM'), ('MSFT')")
    async with simulated(site.dsn, clock, settings, bulk_import) as simulation:
        await simulation.to(begin)
        await live(site, simulation, begin, *stops[1:])
    quarters = len(expected("RSS_FEED_REFRESH", begin, end)) / 3
    assert all(abs(site.service.asked[path] - quarters) <= 1 for path in FEEDS), site.service.asked
    await promises(site, begin)
    if stocks:
        days_asked = await site.rows("select day, used from stock_requests order by day")
        assert days_asked
        assert all(0 < row["used"] <= 25 for row in days_asked), days_asked
    hour = time.fromisoformat(settings.escalation.digest)
    days = [datetime.combine(stop.date(), hour, UTC) for stop in stops[1:]]
    days = [day if day > stop else day + timedelta(days=1) for day, stop in zip(days, stops[1:], strict=True)]
    assert [row["sent"] for row in await site.rows(DIGESTS)] == [day for day in days if day <= end]
    assert len(post.messages) == sum(day <= end for day in days), "all of a day in one"


@pytest.mark.usefixtures("world")
async def test_an_hour_of_a_sunday(
    site: Site, clock: TurnedClock, settings: Settings, mailbox: tuple[Mailbox, str]
) -> None:
    """The short form: one hour, in which what runs daily and weekly does, and the digest comes."""
    november = last_of_october() + timedelta(hours=12)
    sunday = november + timedelta(days=(6 - november.weekday()) % 7)
    early = settings.model_copy(
        update={"escalation": settings.escalation.model_copy(update={"digest": "03:45"})}
    )
    stops = [sunday + timedelta(hours=hours) for hours in (2.95, 3.6, 4.05)]
    await play(site, clock, early, mailbox[0], *stops)


@pytest.mark.long
@pytest.mark.usefixtures("world")
async def test_a_week(
    site: Site, clock: TurnedClock, settings: Settings, mailbox: tuple[Mailbox, str]
) -> None:
    """The long form: 10,080 minutes."""
    begin = last_of_october()
    stops = [begin + timedelta(days=day, hours=-1) for day in range(1, 8)]
    await play(site, clock, settings, mailbox[0], begin, *stops, begin + timedelta(days=7))
