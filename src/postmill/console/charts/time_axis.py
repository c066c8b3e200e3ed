"""Moments along an axis: round ones of the viewer's zone, and how they are written."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache

_STEPS = (1, 5, 15, 30, 60, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
_DAYS = (1, 2, 7, 14, 30, 91, 182, 365)
DAY = 86400


def time_ticks(since: datetime, until: datetime, zone: tzinfo = UTC, most: int = 7) -> list[datetime]:
    """Round moments within a span, at most about `most`: full minutes, hours or days where the viewer lives."""
    length = (until - since).total_seconds()
    if length <= 0:
        return []
    step = next((step for step in _STEPS if length / step <= most), None)
    found = _of_clock(since, until, zone, step) if step else _of_days(since, until, zone, length / DAY / most)
    return sorted({moment for moment in found if since <= moment <= until})


def _of_clock(since: datetime, until: datetime, zone: tzinfo, step: int) -> list[datetime]:
    if step < 3600:
        first = int(since.timestamp()) // step * step
        return [datetime.fromtimestamp(at, UTC) for at in range(first, int(until.timestamp()) + 1, step)]
    return [
        (datetime.combine(date.fromordinal(day), time()) + timedelta(seconds=second))
        .replace(tzinfo=zone)
        .astimezone(UTC)
        for day in range(_day(since, zone), _day(until, zone) + 1)
        for second in range(0, DAY, step)
    ]


def _of_days(since: datetime, until: datetime, zone: tzinfo, least: float) -> list[datetime]:
    days = next((days for days in _DAYS if days >= least), 365 * math.ceil(least / 365))
    first = math.ceil(_day(since, zone) / days) * days
    return [
        datetime.combine(date.fromordinal(day), time(), zone).astimezone(UTC)
        for day in range(first, _day(until, zone) + 1, days)
    ]


def _day(moment: datetime, zone: tzinfo) -> int:
    return moment.astimezone(zone).toordinal()


def time_label(moment: datetime, since: datetime, until: datetime, zone: tzinfo = UTC) -> str:
    """`02:41`, `02:41:07` or `12 Mar`, as the span asks."""
    local = moment.astimezone(zone)
    length = (until - since).total_seconds()
    if length < 120:
        return f"{local:%H:%M:%S}"
    if length <= 2 * DAY and (local.hour or local.minute or length <= DAY):
        return f"{local:%H:%M}"
    return f"{local.day} {local:%b}" if length <= 300 * DAY else f"{local:%Y-%m}"


def moment_text(moment: datetime, zone: tzinfo = UTC) -> str:
    """A moment in full: `2031-03-12 02:41 UTC`, with its seconds where there are any."""
    local = moment.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M:%S}".removesuffix(":00") + f" {local.tzname()}"


@lru_cache(maxsize=2000)
def bucket_text(moment: datetime, step: float, zone: tzinfo = UTC) -> str:
    """A bucket of `step` seconds that begins then: `2031-03-12 02:30–03:00 UTC`; of a minute, or none, its moment."""
    if step <= 60:
        return moment_text(moment, zone)
    local, end = moment.astimezone(zone), (moment + timedelta(seconds=step)).astimezone(zone)
    # 24:00 rather than the next day's 00:00 would be no time; the day says which one is meant.
    last = f"{end:%H:%M}" if end.date() == local.date() else f"{end:%Y-%m-%d %H:%M}"
    return f"{local:%Y-%m-%d %H:%M}–{last} {end.tzname()}"
