"""Time zones, their days, and what becomes of a time of the wall clock where that clock is changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from postmill.domain.suggest import suggest

_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)


class Dst(StrEnum):
    """What becomes of a fixed time that a change of the clock leaves out or repeats.

    `once`: it runs once, at the end of the gap, and at the first of a repeat. `skip`: in the gap it is left out, of
    a repeat the first counts. `wall`: as the wall clock shows it, so never in the gap and twice in a repeat. A line
    whose minute or hour begins with `*` always follows the wall clock.
    """

    ONCE = "once"
    SKIP = "skip"
    WALL = "wall"


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """The names of all zones of the tz database."""
    return frozenset(available_timezones())


@lru_cache(maxsize=1024)
def zone(name: str) -> ZoneInfo:
    """The zone of this name, such as `Europe/Amsterdam`. ValueError says what was probably meant."""
    if name not in zone_names():
        meant = suggest(name[:64], zone_names())
        hint = (
            f"; did you mean {meant!r}?"
            if meant
            else "; write a name of the tz database, as Europe/Amsterdam"
        )
        raise ValueError(f"there is no time zone {name[:64]!r}{hint}")
    return ZoneInfo(name)


@dataclass(frozen=True, slots=True)
class LocalDay:
    """A day of the wall clock, and the change of the clock on it, if there is one.

    Attributes:
        start: the instant of its midnight, as the offset from UTC at its begin has it.
        change: the instant at which the offset changes; None: it does not.
        old, new: what the clock shows at the change, before and after it, as the time since midnight. old < new: a
            gap; new < old: a repeat.
    """

    start: datetime
    change: datetime | None = None
    old: timedelta = timedelta(0)
    new: timedelta = timedelta(0)


@lru_cache(maxsize=8192)
def local_day(day: date, timezone: str) -> LocalDay:
    """The day in a zone."""
    tz = zone(timezone)
    midnight = datetime.combine(day, time())
    # At the end the later offset counts: so a change at midnight itself belongs to both days.
    before, after = _offset(midnight, tz, 0), _offset(midnight + _DAY, tz, 1)
    start = (midnight - before).replace(tzinfo=UTC)
    if before == after:
        return LocalDay(start)
    low, high = start - _SECOND, (midnight + _DAY - min(before, after)).replace(tzinfo=UTC)
    while high - low > _SECOND:
        middle = low + ((high - low) // 2 // _SECOND) * _SECOND
        if middle.astimezone(tz).utcoffset() == before:
            low = middle
        else:
            high = middle
    return LocalDay(start, high, high - start, high - start + (after - before))


def _offset(local: datetime, tz: ZoneInfo, fold: int) -> timedelta:
    offset = local.replace(tzinfo=tz, fold=fold).utcoffset()
    assert offset is not None, "a zone of the tz database has an offset"
    return offset
