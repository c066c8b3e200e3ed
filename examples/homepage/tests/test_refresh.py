"""Section 10 of the design: fan-out, intervals, span events, metrics, conditional GET and what is stored."""

from __future__ import annotations

from functools import partial
from hashlib import md5
from uuid import UUID, uuid4

import psycopg
import pytest
from prometheus_client import REGISTRY
from psycopg import AsyncConnection

from examples.homepage import statements
from examples.homepage.tests.labour import labouring
from examples.homepage.tests.site import Row, Site, happenings
from tests.support.workers import until

HANDLER = "examples.homepage.jobs.rss_feed_refresh.RssFeedRefreshHandler"

PLANNED = "select count(*) > 0 from postmill.trigger where next_run_at is not null"
TICKED = "select count(*) > 0 from postmill.any_job where source = 'schedule'"


def metric(name: str, source: UUID, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, {"source_id": str(source), **labels}) or 0.0


async def due(site: Site, later: str) -> list[str]:
    """The sources that a run of the scheduler would hand over so much later."""
    async with await AsyncConnection.connect(site.later(later), autocommit=True) as conn:
        found = await statements.rows(conn, "due_sources", force=False)
    return [source["url"].removeprefix(site.service.url) for source in found]


async def test_the_scheduler_hands_over_what_is_due_at_its_interval(site: Site) -> None:
    """An empty payload makes a job for each due source, once; no interval is cut short or drawn out."""
    quick = await site.source("/corpus/atom-1.0.xml", refresh_interval_minutes=15)
    slow = await site.source("/corpus/atom-0.3.xml", refresh_interval_minutes=60)
    off = await site.source("/corpus/podcast.xml", is_active=False)
    both = {"/corpus/atom-1.0.xml", "/corpus/atom-0.3.xml"}
    async with labouring(site.dsn) as labour:
        await site.enqueue()
        await labour.idle()
        assert site.service.asked == dict.fromkeys(both, 1)
        await site.enqueue(source_id=None, force_refresh=True)
        await labour.idle()
    assert site.service.asked == dict.fromkeys(both, 2), "forced: whether due or not, but for disabled ones"
    told = [event for span in labour.spans for event in happenings(span) if event[0] == "refresh.completed"]
    assert told.count(("refresh.completed", {"sources.success": 2, "sources.failure": 0})) == 2
    assert (len(await site.items(quick)), len(await site.items(slow))) == (2, 1)
    found = [await due(site, f"{minutes} minutes") for minutes in (5, 10, 15, 59, 61)]
    one = ["/corpus/atom-1.0.xml"]
    assert found[:4] == [[], [], one, one], "at the third run of the scheduler, not the fourth"
    assert set(found[4]) == both
    assert (await site.standing(off))["last_fetched_at"] is None


async def test_the_scheduler_comes_by_itself(site: Site) -> None:
    """With an empty payload; a source whose job is at its next attempt gets no second one."""
    source = await site.source("/status/500", refresh_interval_minutes=60)
    await site.enqueue()
    for later, happened in (("0 s", PLANNED), ("6 minutes", TICKED)):
        async with labouring(site.later(later), schedules=True) as labour:
            await until(partial(labour.all_true, happened))
            await labour.idle()
    await site.conn.execute("delete from postmill.trigger")
    jobs = await site.rows("select source, payload from postmill.any_job where job_type = 'RSS_FEED_REFRESH'")
    assert {str(job["payload"]) for job in jobs if job["source"] == "schedule"} == {"{}"}
    assert [job["payload"]["source_id"] for job in jobs if "source_id" in job["payload"]].count(
        str(source)
    ) == 1


async def test_the_span_its_attributes_and_events(site: Site) -> None:
    """Sections 6 and 10: five attributes, and each of the eight events where it belongs."""
    url = site.service.url.replace("//", "//reader:secret@") + "/corpus/rss-2.0.xml"
    source, off = await site.source(url=url), await site.source("/corpus/podcast.xml", is_active=False)
    gone, later = uuid4(), await site.source("/corpus/rss-0.91.xml", last_fetched_at="2100-01-01")
    job = await site.enqueue(source_id=source)
    for wanted in (off, gone, later):
        await site.enqueue(source_id=wanted)
    spans = {dict(span.attributes or {})["job.id"]: span for span in await site.run()}
    span = spans.pop(str(job))
    assert dict(span.attributes or {}).items() >= {
        "job.type": "RSS_FEED_REFRESH", "job.queue": "DEFAULT", "job.attempt": 1, "job.handler": HANDLER
    }.items()  # fmt: skip
    assert happenings(span) == [
        ("fetch.started", {"source_id": str(source), "source_url": f"{site.service.url}/corpus/rss-2.0.xml"}),
        ("parse.completed", {"items_fetched": 6}),
        ("entry.missing_fields", {"guid": "miller-1004"}),
        ("entry.missing_fields", {"guid": "miller-1005"}),
        ("entry.missing_fields", {"guid": "miller-1006"}),
        ("dedupe.completed", {"new": 3, "duplicate": 0}),
        ("refresh.completed", {"sources.success": 1, "sources.failure": 0}),
    ]
    assert span.events[-1].name == "job.completed"
    assert sorted(map(str, (happenings(span) for span in spans.values()))) == sorted(
        map(
            str,
            (
                [("source.not_found", {"source_id": str(gone)})],
                [("source.inactive", {"source_id": str(off)})],
                [],
            ),
        )
    )
    assert site.service.asked.keys() == {"/corpus/rss-2.0.xml"}
    assert site.service.seen["/corpus/rss-2.0.xml"]["authorization"].startswith("Basic ")
    await site.conn.execute("delete from rss_sources")
    await site.enqueue()
    [span] = await site.run()
    assert happenings(span) == [("refresh.no_sources", {})]


async def test_what_is_stored_and_counted(site: Site) -> None:
    source = await site.source()
    for force in (False, True):  # at one moment: one of them is the first
        await site.enqueue(source_id=source, force_refresh=force)
    await site.run()
    first, *_ = await site.items(source)
    assert (first["item_guid"], first["ai_tagged"], first["ai_tags"]) == ("miller-1001", False, None)
    text = "Flour & water: it's all you need" + "<p>A <b>short</b> text.</p>"
    assert first["content_hash"] == md5(text.encode()).hexdigest()
    assert len(await site.items(source)) == 3
    counted = {
        status: metric("rss_fetch_items_total", source, status=status) for status in ("new", "duplicate")
    }
    assert counted == {"new": 3, "duplicate": 3}
    assert metric("rss_fetch_duration_count", source, result="success") == 2
    assert metric("rss_fetch_duration_bucket", source, result="success", le="+Inf") == 2
    with pytest.raises(psycopg.errors.CheckViolation, match="rss_sources_interval"):
        await site.source("/a", refresh_interval_minutes=14)
    with pytest.raises(psycopg.errors.CheckViolation, match="rss_sources_interval"):
        await site.source("/a", refresh_interval_minutes=1441)


async def test_what_has_not_changed_is_not_sent_again(site: Site) -> None:
    """Conditional GET: 304 is a success without items."""
    source = await site.source("/cached")
    async with labouring(site.dsn) as labour:
        for new in (2, 0):
            job = await site.enqueue(source_id=source, force_refresh=True)
            await labour.idle()
            assert (await site.job(job))["result"] == {"new": new, "duplicate": 0}
    row = await site.standing(source)
    assert (row["etag"], row["error_count"]) == ('"first"', 0)
    assert site.service.seen["/cached"]["if-none-match"] == '"first"'


async def test_the_sources_of_a_new_installation(site: Site) -> None:
    """Category and interval of each; what somebody has changed stays when they are applied again."""
    await site.conn.execute(statements.sources())
    await site.conn.execute("update rss_sources set refresh_interval_minutes = 45 where name = 'BBC News'")
    await site.conn.execute(statements.sources())
    rows: list[Row] = await site.rows(
        "select name, category, refresh_interval_minutes as every from rss_sources"
    )
    found = {row["name"]: (row["category"], row["every"]) for row in rows}
    assert found == {
        "Reuters": ("Breaking News", 15), "BBC News": ("Breaking News", 45), "AP": ("Breaking News", 15),
        "TechCrunch": ("Tech News", 60), "Hacker News": ("Tech News", 60),
        "Financial Times": ("Analysis/Opinion", 360), "Scientific American": ("Analysis/Opinion", 360),
        "ESPN": ("Sports/Entertainment", 30), "Variety": ("Sports/Entertainment", 120),
    }  # fmt: skip
