"""When scheduled job types run. What is not here runs on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from examples.homepage.job_types import JobType

NEW_YORK = "America/New_York"
HOURLY = ("0 * * * *",)


@dataclass(frozen=True, slots=True)
class Cadence:
    """One schedule: lines of cron on the wall clock of a zone, and the payload of each run."""

    label: str
    cron: tuple[str, ...]
    zone: str = "UTC"
    payload: Mapping[str, object] = field(default_factory=dict)


CADENCES: Mapping[JobType, tuple[Cadence, ...]] = {
    # Every source has its own interval, from 15 minutes to a day; this looks for those that are due.
    JobType.RSS_FEED_REFRESH: (Cadence("RssFeedRefreshScheduler", ("*/5 * * * *",)),),
    JobType.WEATHER_REFRESH: (
        Cadence("weather forecast", HOURLY, payload={"kind": "forecast"}),
        Cadence("severe weather alerts", ("*/15 * * * *",), payload={"kind": "alerts"}),
    ),
    JobType.LISTING_EXPIRATION: (Cadence("listing expiration", ("0 2 * * *",)),),
    JobType.RANK_RECALCULATION: (Cadence("rank recalculation", HOURLY),),
    JobType.INBOUND_EMAIL: (Cadence("inbound email", ("* * * * *",)),),
    # The market is open from 9:30 to 16:00, and its last prices are those of 16:00.
    JobType.STOCK_REFRESH: (
        Cadence(
            "stocks in market hours", ("30-55/5 9 * * 1-5", "*/5 10-15 * * 1-5", "0 16 * * 1-5"), NEW_YORK
        ),
        Cadence("stocks after hours", ("0 0-9,17-23 * * 1-5",), NEW_YORK),
        Cadence("stocks at weekends", ("0 */6 * * 0,6",), NEW_YORK),
    ),
    JobType.SOCIAL_REFRESH: (Cadence("social refresh", ("*/30 * * * *",)),),
    JobType.LINK_HEALTH_CHECK: (Cadence("link health check", ("0 4 * * 0",)),),
    JobType.SITEMAP_GENERATION: (Cadence("sitemap generation", ("0 3 * * *",)),),
    JobType.CLICK_ROLLUP: (Cadence("click rollup", HOURLY),),
    JobType.AI_TAGGING: (Cadence("AiTaggingScheduler", HOURLY, payload={"trigger": "scheduled"}),),
}
