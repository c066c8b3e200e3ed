"""Business hours: days and times of the wall clock in a zone, and how much of a length of time lies within them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from postmill.domain.zone import zone

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_DAY = timedelta(days=1)
_FURTHEST = 800  # days ahead that are looked at: two years of holidays are no calendar


@dataclass(frozen=True, slots=True)
class Hours:
    """When somebody is there.

    Attributes:
        zone: whose wall clock counts.
        days: days of the week, 0 is Monday.
        begin, end: of each day; an end that is not later belongs to the next day, so equal ones are the whole day.
        holidays: days without hours.
    """

    zone: str = "UTC"
    days: frozenset[int] = frozenset(range(5))
    begin: time = time(9)
    end: time = time(17)
    holidays: frozenset[date] = field(default_factory=frozenset)

    def is_open(self, moment: datetime) -> bool:
        """Whether the moment lies within the hours."""
        return self.opens(moment) <= moment

    def opens(self, moment: datetime) -> datetime:
        """The moment itself if it lies within the hours, else when they begin next."""
        for begin, end in self._spans(moment):
            if end > moment:
                return max(begin, moment)
        return moment

    def after(self, moment: datetime, seconds: float) -> datetime:
        """When so many seconds of the hours have passed since the moment."""
        left = timedelta(seconds=seconds)
        for begin, end in self._spans(moment):
            start = max(begin, moment)
            if end <= start:
                continue
            if left <= end - start:
                return start + left
            left -= end - start
        return moment + left

    def _spans(self, moment: datetime) -> Iterator[tuple[datetime, datetime]]:
        """The hours of each day from the one before the moment on."""
        first = moment.astimezone(zone(self.zone)).date() - _DAY
        for n in range(_FURTHEST):
            day = first + n * _DAY
            if day.weekday() in self.days and day not in self.holidays:
                last = day if self.end > self.begin else day + _DAY
                yield instant(day, self.begin, self.zone), instant(last, self.end, self.zone)


def instant(day: date, at: time, timezone: str) -> datetime:
    """That time of the wall clock on that day, in UTC; in a gap of the clock, as much later."""
    return datetime.combine(day, at, tzinfo=zone(timezone)).astimezone(UTC)


def daily(at: time, timezone: str, moment: datetime) -> datetime:
    """The next moment after this one at which the wall clock shows that time."""
    today = moment.astimezone(zone(timezone)).date()
    return next(due for n in range(3) if (due := instant(today + n * _DAY, at, timezone)) > moment)


def parse_days(text: str) -> frozenset[int]:
    """Days such as `mon-fri` or `mon, wed, sat-sun`. ValueError for anything else."""
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = (word.strip().casefold()[:3] for word in part.partition("-"))
        if first not in DAYS or (dash and last not in DAYS):
            raise ValueError(f"{part.strip()!r} is no day; write mon-fri, or mon, wed, sat")
        begin, end = DAYS.index(first), DAYS.index(last if dash else first)
        found |= {n % 7 for n in range(begin, end + 1 if end >= begin else end + 8)}
    return frozenset(found)


def parse_time(text: str) -> time:
    """A time of the day such as `08:00`; `24:00` is midnight. ValueError for anything else."""
    try:
        return time(0) if text.strip() == "24:00" else time.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is no time of the day; write it as 08:00") from None
