"""When the schedules are to run, from the design's table alone: every minute is looked at on the wall clocks that count.

It knows nothing of cron, so that it can say what cron should have said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

NEW_YORK = ZoneInfo("America/New_York")


def _stocks(utc: datetime) -> int:
    """5 min from 9:30 to 16:00 in New York, Monday to Friday; hourly outside of it; 6-hourly at weekends."""
    local = utc.astimezone(NEW_YORK)
    minutes = local.hour * 60 + local.minute
    if local.weekday() >= 5:
        return minutes % 360 == 0
    if 9 * 60 + 30 <= minutes <= 16 * 60:
        return minutes % 5 == 0
    return minutes % 60 == 0


RUNS: dict[str, Callable[[datetime], int]] = {
    "RSS_FEED_REFRESH": lambda utc: utc.minute % 5 == 0,
    # Forecast, and alerts.
    "WEATHER_REFRESH": lambda utc: (utc.minute == 0) + (utc.minute % 15 == 0),
    "LISTING_EXPIRATION": lambda utc: (utc.hour, utc.minute) == (2, 0),
    "RANK_RECALCULATION": lambda utc: utc.minute == 0,
    "INBOUND_EMAIL": lambda utc: 1,
    "STOCK_REFRESH": _stocks,
    "SOCIAL_REFRESH": lambda utc: utc.minute % 30 == 0,
    # Once a week: on Sundays at 4.
    "LINK_HEALTH_CHECK": lambda utc: (utc.weekday(), utc.hour, utc.minute) == (6, 4, 0),
    "SITEMAP_GENERATION": lambda utc: (utc.hour, utc.minute) == (3, 0),
    "CLICK_ROLLUP": lambda utc: utc.minute == 0,
    "AI_TAGGING": lambda utc: utc.minute == 0,
}
"""How often each type runs at a minute."""


def expected(kind: str, begin: datetime, end: datetime) -> Counter[datetime]:
    """The runs of a type from `begin` (a whole minute, without it) to `end` (with it)."""
    minutes = round((end - begin).total_seconds() / 60)
    moments = (begin.astimezone(UTC) + timedelta(minutes=n) for n in range(1, minutes + 1))
    return +Counter({moment: int(RUNS[kind](moment)) for moment in moments})
