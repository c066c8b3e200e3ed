"""What a stretch of simulated time should have brought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta

from examples.homepage.tests.site import Site
from examples.homepage.tests.week.expected_runs import RUNS, expected
from examples.homepage.tests.week.scene import FEEDS, Scene
from postmill.bind import arun
from postmill.store.stats import read_stats

TICKS = """
    select k.due, j.status, j.last_error from postmill.tick k
      join postmill.trigger t on t.id = k.trigger_id
      join postmill.job_definition d on d.id = t.definition_id
      join postmill.jobs j on j.id = k.job_id
     where d.key = %s and k.outcome = 'enqueued' and k.due > %s and k.ticks = 1
"""
LATE = "select max(extract(epoch from fired_at - due)) as seconds from postmill.tick"
DIGESTS = """
    select distinct date_trunc('minute', sent_at) as sent from postmill.notification
     where channel = 'email' and status = 'sent' order by 1
"""


async def cadences(site: Site, begin: datetime, end: datetime) -> None:
    """Every scheduled type ran when it should, no less and no more, and each run has succeeded."""
    for kind in RUNS:
        ticks = await site.rows(TICKS, kind, begin)
        ran, wanted = Counter(tick["due"] for tick in ticks), expected(kind, begin, end)
        assert ran == wanted, f"{kind}: {ran - wanted} too many, {wanted - ran} missing"
        faults = {(tick["status"], tick["last_error"]) for tick in ticks if tick["status"] != "succeeded"}
        assert not faults, f"{kind}: {faults}"
    late = await site.row(LATE)
    assert late["seconds"] < 10, late
    quarters = len(expected("RSS_FEED_REFRESH", begin, end)) / 3
    assert all(abs(site.service.asked[path] - quarters) <= 1 for path in FEEDS), site.service.asked
    days = await site.rows("select day, used from stock_requests order by day")
    assert days
    assert all(0 < row["used"] <= 25 for row in days), days


async def promises(site: Site, begin: datetime) -> None:
    """By Postmill's own statistics every queue kept its SLA, and nobody was told of a late one."""
    slas = await site.rows("select name, sla_seconds from postmill.queue where sla_seconds is not null")
    statement = read_stats(since=begin, by="queue")
    measured = {stat.name: stat for stat in await arun(site.conn, statement)}
    for row in slas:
        stat = measured.get(row["name"])
        if stat is not None and stat.ended:
            assert stat.total is not None
            assert stat.total.p95 < row["sla_seconds"], stat
    breaches = await site.rows("select title from postmill.incident where kind = 'sla_breach'")
    assert not breaches, breaches


async def digests(scene: Scene, failures: Sequence[datetime], end: datetime) -> None:
    """One on each day after something has failed, and none on others."""
    hour = time.fromisoformat(scene.settings.escalation.digest)
    days = [datetime.combine(failure.date(), hour, UTC) for failure in failures]
    days = [day if day > at else day + timedelta(days=1) for day, at in zip(days, failures, strict=True)]
    days = [day for day in days if day <= end]
    sent = [row["sent"] for row in await scene.site.rows(DIGESTS)]
    assert sent == days, sent
    mails = [mail["Subject"] for mail in scene.post.messages if "BULK_IMPORT" in mail.get_content()]
    assert len(mails) == len(days), f"all of a day in one: {mails}"
