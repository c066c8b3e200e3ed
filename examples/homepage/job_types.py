"""The registry of job types: each belongs to one queue family for good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from examples.homepage.queues import BULK, DEFAULT, HIGH, LOW, SCREENSHOT, Family


class JobType(StrEnum):
    """All that is done asynchronously."""

    RSS_FEED_REFRESH = "RSS_FEED_REFRESH"
    WEATHER_REFRESH = "WEATHER_REFRESH"
    LISTING_EXPIRATION = "LISTING_EXPIRATION"
    RANK_RECALCULATION = "RANK_RECALCULATION"
    INBOUND_EMAIL = "INBOUND_EMAIL"
    STOCK_REFRESH = "STOCK_REFRESH"
    MESSAGE_RELAY = "MESSAGE_RELAY"
    SOCIAL_REFRESH = "SOCIAL_REFRESH"
    LINK_HEALTH_CHECK = "LINK_HEALTH_CHECK"
    SITEMAP_GENERATION = "SITEMAP_GENERATION"
    CLICK_ROLLUP = "CLICK_ROLLUP"
    AI_TAGGING = "AI_TAGGING"
    IMAGE_PROCESSING = "IMAGE_PROCESSING"
    SCREENSHOT_CAPTURE = "SCREENSHOT_CAPTURE"


@dataclass(frozen=True, slots=True)
class Registered:
    """A line of the registry. `handler` is the name of what runs the jobs, in a module of `jobs/`."""

    family: Family
    cadence: str
    handler: str
    notes: str = ""


REGISTRY: Mapping[JobType, Registered] = {
    JobType.RSS_FEED_REFRESH: Registered(DEFAULT, "15min-daily (configurable)", "RssFeedRefreshHandler"),
    JobType.WEATHER_REFRESH: Registered(
        DEFAULT,
        "1 hour (forecast), 15 min (alerts)",
        "WeatherRefreshJobHandler",
        "Dual cadence: hourly forecast refresh + 15-min severe weather alerts (NWS only)",
    ),
    JobType.LISTING_EXPIRATION: Registered(DEFAULT, "Daily @ 2am UTC", "ListingExpirationHandler"),
    JobType.RANK_RECALCULATION: Registered(DEFAULT, "Hourly", "RankRecalculationHandler"),
    JobType.INBOUND_EMAIL: Registered(
        DEFAULT, "1 minute", "InboundEmailHandler", "IMAP polling for marketplace relay"
    ),
    JobType.STOCK_REFRESH: Registered(
        HIGH,
        "5 min (market hours), 1hr (after hours), 6hr (weekends)",
        "StockRefreshJobHandler",
        "Alpha Vantage API: 25 req/day free tier, rate limit fallback serves stale cache, "
        "market hours: 9:30am-4pm ET Mon-Fri",
    ),
    JobType.MESSAGE_RELAY: Registered(
        HIGH, "On-demand", "MessageRelayHandler", "Marketplace inquiry relay with email masking"
    ),
    JobType.SOCIAL_REFRESH: Registered(
        LOW, "30 minutes", "SocialRefreshHandler", "P5/P13: Secure token storage required"
    ),
    JobType.LINK_HEALTH_CHECK: Registered(
        LOW, "Weekly", "LinkHealthCheckHandler", "Detects dead links in Good Sites directory"
    ),
    JobType.SITEMAP_GENERATION: Registered(
        LOW, "Daily @ 3am UTC", "SitemapGenerationHandler", "SEO sitemap XML generation"
    ),
    JobType.CLICK_ROLLUP: Registered(
        LOW, "Hourly", "ClickRollupHandler", "P14: Consent-gated, 90-day retention"
    ),
    JobType.AI_TAGGING: Registered(
        BULK,
        "Hourly (scheduled)",
        "AiTaggingJobHandler",
        "P2/P10: $500/month budget ceiling with automatic throttling",
    ),
    JobType.IMAGE_PROCESSING: Registered(
        BULK,
        "On-demand (triggered by upload)",
        "ImageProcessingHandler",
        "Resize/optimize marketplace listing images",
    ),
    JobType.SCREENSHOT_CAPTURE: Registered(
        SCREENSHOT,
        "On-demand (triggered by site submission)",
        "ScreenshotCaptureHandler",
        "P12: Dedicated worker pool, semaphore-limited to 3 concurrent jobs",
    ),
}
