"""What becomes of a source whose feed fails: five errors in a row, Retry-After in all its forms, and the way back."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from uuid import UUID

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from examples.homepage.rss.errors import FeedError
from examples.homepage.rss.store import wait_of
from examples.homepage.tests.labour import labouring, served
from examples.homepage.tests.site import Site
from examples.upstreams.feeds.documents import item, rss
from examples.upstreams.script import Answer
from postmill.domain.classify import classify
from postmill.domain.outcome import Retrying, decide

NOW = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)
DAY = 86400.0
FORMS: list[tuple[list[str], float | None]] = [
    # the headers, and the seconds until the next attempt: clamped to 30 s … 24 h; None is the type's own delay
    (["120"], 120), (["0"], 30), (["-5"], 30), (["1.5"], 30), ([" 60 "], 60), (["90.5"], 90.5),
    (["Wed, 21 Oct 2015 07:28:00 GMT"], 30), (["Sat, 28 Nov 2026 12:00:40 GMT"], 40),
    (["Sat, 28 Nov 2026 12:00:40 -0000"], 40), (["Saturday, 28-Nov-26 12:00:40 GMT"], 40),
    (["Sat Nov 28 12:00:40 2026"], 40), (["2026-11-28T12:00:40Z"], 40),
    (["Sat, 28 Nov 9999 12:00:00 GMT"], DAY), (["Sat, 28 Nov 10000 12:00:00 GMT"], None), (["9" * 5000], DAY),
    (["60", "120"], 120), (["soon", "45"], 45), ([""], None), (["soon"], None), ([], None),
]  # fmt: skip


@pytest.mark.parametrize(("headers", "wait"), FORMS)
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_in_all_its_forms(status: int, headers: list[str], wait: float | None) -> None:
    handler = served()["RSS_FEED_REFRESH"]
    error = FeedError(f"http_{status}", "busy", status=status, retry_after=headers)
    outcome = decide(
        error,
        attempt=1,
        max_attempts=handler.max_attempts,
        policy=handler.retry,
        verdict=classify(error, now=NOW, classifier=handler.classifier),
        rng=random.Random(),
    )
    assert isinstance(outcome, Retrying)
    assert outcome.delay == wait if wait is not None else 22.5 <= outcome.delay <= 37.5
    asked, unread = wait_of(error, NOW)
    assert (unread is None) == (wait is not None or not headers)
    assert asked is None or 0 <= asked <= DAY


def errors(source: UUID, kind: str) -> float:
    labels = {"source_id": str(source), "error_type": kind}
    return REGISTRY.get_sample_value("rss_fetch_errors_total", labels) or 0.0


async def test_the_fifth_error_in_a_row_disables_a_source_until_somebody_helps(site: Site) -> None:
    """404: tried again like everything; then a dead letter, for people to be told of; then PATCH, and all is well."""
    source = await site.source("/moved/away")
    job = await site.enqueue(source_id=source)
    with capture_logs() as lines:
        async with labouring(site.dsn) as labour:
            await labour.idle(hurry=True)
            await _is_disabled(site, source, job)
            site.page("/moved/away", rss([item(1)]))
            change = {"is_active": True, "error_count": 0}
            answer = await site.http.patch(f"/admin/api/rss-sources/{source}", json=change)
            assert (answer.status_code, answer.json()["last_error_message"]) == (200, None)
            await site.enqueue()
            await labour.idle()
    row = await site.standing(source)
    assert (row["is_active"], row["error_count"], len(await site.items(source))) == (True, 0, 1)
    spans = [span for span in labour.spans if (span.attributes or {}).get("job.id") == str(job)]
    ended = [[event.name for event in span.events if event.name.startswith("job.")] for span in spans]
    assert ended == [["job.failed", "job.retry_scheduled"]] * 4 + [["job.failed", "job.exhausted"]]
    told = [(line["error_count"], line["log_level"]) for line in lines if line["event"] == "feed_failed"]
    assert told == [(number, "warning") for number in range(1, 6)]


async def _is_disabled(site: Site, source: UUID, job: UUID) -> None:
    row = await site.standing(source)
    assert (row["error_count"], row["is_active"]) == (5, False)
    assert row["last_error_message"] == "http_404: the server answered 404 Not Found"
    found = await site.job(job)
    assert (found["state"], found["reason"], found["attempt"]) == ("dead_letter", "source_disabled", 5)
    assert (errors(source, "http_404"), site.service.asked["/moved/away"]) == (5, 5)


async def test_a_success_resets_and_each_source_is_for_itself(site: Site) -> None:
    """Two of three fail for a while; the third is not tried again for their sake, and a success makes all well."""
    flaky = await site.source("/odd/nbsp", error_count=2, last_error_message="before")
    broken = await site.source("/hopeless/a-page")
    fine = await site.source("/corpus/podcast.xml")
    site.service.days["/odd/nbsp"] = [Answer(status=500), Answer(status=410)]
    await site.enqueue()
    with capture_logs() as lines:
        await site.run(hurry=True)
    row = await site.standing(flaky)
    assert (row["error_count"], row["last_error_message"], row["is_active"]) == (0, None, True)
    assert [errors(flaky, kind) for kind in ("http_500", "http_410")] == [1, 1]
    row = await site.standing(broken)
    assert (row["error_count"], row["is_active"]) == (5, False)
    assert row["last_error_message"].startswith("parse_error: SAXParseException: ")
    assert site.service.asked["/corpus/podcast.xml"] == 1
    assert len(await site.items(fine)) == 2
    assert {line["fault"][:17] for line in lines if line["event"] == "feed_is_broken"} == {
        "SAXParseException"
    }


async def test_a_server_that_asks_for_time_gets_it(site: Site) -> None:
    """Over restarts of the worker; the scheduler waits, too, and other sources wait for nobody."""
    busy = await site.source("/corpus/atom-1.0.xml")
    other = await site.source("/corpus/atom-0.3.xml")
    now = (await site.row("select postmill.now() as now"))["now"]
    site.service.days["/corpus/atom-1.0.xml"] = [
        Answer(status=429, retry_after="7200"), Answer(status=503, retry_after="soon"),
    ]  # fmt: skip
    await site.enqueue()
    await site.run()
    [job] = await site.rows("select * from delayed_jobs")
    wait = (job["scheduled_at"] - now).total_seconds()
    assert 7200 <= wait < 7200 + 600
    assert (job["attempts"], job["locked_at"]) == (2, None)
    assert len(await site.items(other)) == 1
    await site.enqueue()
    await site.run("40 min")
    assert site.service.asked == {"/corpus/atom-1.0.xml": 1, "/corpus/atom-0.3.xml": 2}
    with capture_logs() as lines:
        await site.run("122 min", hurry=True)
    assert [line["header"] for line in lines if line["event"] == "retry_after_unreadable"] == [["soon"]]
    row = await site.standing(busy)
    assert (row["error_count"], row["retry_not_before"], len(await site.items(busy))) == (0, None, 2)
