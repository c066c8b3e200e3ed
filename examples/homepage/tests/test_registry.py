"""Section 2 of the design: fourteen job types, each in its queue, with its handler and its cadence."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

import pytest

from examples.homepage.cadences import CADENCES, NEW_YORK
from examples.homepage.job_types import REGISTRY, JobType
from examples.homepage.queues import DEFAULT
from postmill import Registry
from postmill.domain.schedule import cron_schedule, cron_text

MONDAY = datetime(2026, 11, 30, tzinfo=ZoneInfo(NEW_YORK))
HANDLERS = {
    "DEFAULT": {
        "RSS_FEED_REFRESH": "RssFeedRefreshHandler", "WEATHER_REFRESH": "WeatherRefreshJobHandler",
        "LISTING_EXPIRATION": "ListingExpirationHandler", "RANK_RECALCULATION": "RankRecalculationHandler",
        "INBOUND_EMAIL": "InboundEmailHandler",
    },
    "HIGH": {"STOCK_REFRESH": "StockRefreshJobHandler", "MESSAGE_RELAY": "MessageRelayHandler"},
    "LOW": {
        "SOCIAL_REFRESH": "SocialRefreshHandler", "LINK_HEALTH_CHECK": "LinkHealthCheckHandler",
        "SITEMAP_GENERATION": "SitemapGenerationHandler", "CLICK_ROLLUP": "ClickRollupHandler",
    },
    "BULK": {"AI_TAGGING": "AiTaggingJobHandler", "IMAGE_PROCESSING": "ImageProcessingHandler"},
    "SCREENSHOT": {"SCREENSHOT_CAPTURE": "ScreenshotCaptureHandler"},
}  # fmt: skip
IN_A_WEEK = {
    "RSS_FEED_REFRESH": [7 * 288],
    "WEATHER_REFRESH": [7 * 24, 7 * 96],
    "LISTING_EXPIRATION": [7],
    "RANK_RECALCULATION": [7 * 24],
    "INBOUND_EMAIL": [7 * 1440],
    "STOCK_REFRESH": [5 * 79, 5 * 17, 2 * 4],
    "SOCIAL_REFRESH": [7 * 48],
    "LINK_HEALTH_CHECK": [1],
    "SITEMAP_GENERATION": [7],
    "CLICK_ROLLUP": [7 * 24],
    "AI_TAGGING": [7 * 24],
}


def runs(kind: JobType, number: int, since: datetime = MONDAY, days: int = 7) -> list[datetime]:
    """When a schedule of a type runs, on the wall clock of New York."""
    cadence = CADENCES[kind][number]
    upcoming = cron_schedule(cron_text(cadence.cron), cadence.zone).upcoming(since - timedelta(seconds=1))
    return [
        moment.astimezone(MONDAY.tzinfo)
        for moment in takewhile(lambda moment: moment < since + timedelta(days=days), upcoming)
    ]


def test_the_registry() -> None:
    """Every type, in one queue for good, and the handler that has its name."""
    found: dict[str, dict[str, str]] = {}
    for kind, line in REGISTRY.items():
        found.setdefault(line.family.queue.name, {})[kind.value] = line.handler
    assert found == HANDLERS
    assert sum(map(len, found.values())) == len(JobType) == 14
    noted = {kind.value for kind, line in REGISTRY.items() if line.notes}
    assert {"WEATHER_REFRESH", "STOCK_REFRESH", "SOCIAL_REFRESH", "CLICK_ROLLUP", "AI_TAGGING"} <= noted


def test_what_is_served_is_what_is_registered() -> None:
    """Queue, priority, handler and schedules of each module in jobs/ are those of the registry."""
    registry = Registry.collect("examples.homepage.jobs")
    labels = {trigger.label: trigger for _, trigger in registry.triggers}
    assert "RSS_FEED_REFRESH" in registry.names
    for handler in registry:
        kind = JobType(handler.name)
        line = REGISTRY[kind]
        assert (handler.queue, handler.priority) == (line.family.queue.name, line.family.priority)
        assert handler.fn.__qualname__ == line.handler
        assert handler.fn.__module__.startswith("examples.homepage.jobs.")
        for cadence in CADENCES.get(kind, ()):
            assert labels.pop(cadence.label).spec.definition_key == kind.value
    assert labels == {}
    assert registry.declared["DEFAULT"] == DEFAULT.queue


@pytest.mark.parametrize("kind", [kind.value for kind in JobType])
def test_the_cadence_in_a_week(kind: str) -> None:
    """How often each schedule runs from Monday to Sunday; those on demand never do."""
    numbers = range(len(CADENCES.get(JobType(kind), ())))
    assert [len(runs(JobType(kind), number)) for number in numbers] == IN_A_WEEK.get(kind, [])


def test_the_three_regimes_of_the_stocks() -> None:
    """Every 5 minutes from 9:30 to 16:00 in New York, hourly outside of it, every 6 hours at weekends; also in the weeks in
    which the clocks change, and never two at once."""
    for since in (
        MONDAY,
        datetime(2027, 3, 8, tzinfo=MONDAY.tzinfo),
        datetime(2027, 11, 1, tzinfo=MONDAY.tzinfo),
    ):
        market, after, weekend = (runs(JobType.STOCK_REFRESH, number, since) for number in range(3))
        assert {f"{run:%H:%M}" for run in market if not "09:30" <= f"{run:%H:%M}" <= "16:00"} == set()
        assert Counter(run.weekday() for run in market) == dict.fromkeys(range(5), 79)
        assert {f"{run:%H:%M}" for run in after} == {f"{hour:02}:00" for hour in (*range(10), *range(17, 24))}
        assert {(run.weekday(), run.hour) for run in weekend} == {
            (d, h) for d in (5, 6) for h in (0, 6, 12, 18)
        }
        assert len({*market, *after, *weekend}) == len(market) + len(after) + len(weekend)
    daily = [f"{run.astimezone(ZoneInfo('UTC')):%H:%M}" for run in runs(JobType.SITEMAP_GENERATION, 0)]
    assert set(daily) == {"03:00"}
