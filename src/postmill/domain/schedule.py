"""When a schedule is due: pure arithmetic on instants, forwards and backwards, the same for page, save and scheduler."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import islice, pairwise

from postmill.domain.cron import CronLine, cron_line
from postmill.domain.duration import LONGEST, parse, seconds
from postmill.domain.zone import Dst, LocalDay, local_day, zone

MOST_LINES = 20
SHORTEST = 1.0
"""Seconds between two ticks of `every`, at the least."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Lines of cron in a time zone, or a fixed length of time counted from `anchor`.

    Several lines are due where any of them is; at an instant that two of them name, once.
    """

    lines: tuple[CronLine, ...] = ()
    every: timedelta | None = None
    timezone: str = "UTC"
    dst: Dst = Dst.ONCE
    anchor: datetime = EPOCH

    def after(self, moment: datetime) -> datetime | None:
        """The first instant (UTC) later than `moment`; None if none comes within fifty years."""
        if self.every is not None:
            return self.anchor + ((moment - self.anchor) // self.every + 1) * self.every
        found = [near for line in self.lines if (near := self._near(line, moment, 1)) is not None]
        return min(found, default=None)

    def until(self, moment: datetime) -> datetime | None:
        """The last instant (UTC) that is not later than `moment`."""
        if self.every is not None:
            return self.anchor + ((moment - self.anchor) // self.every) * self.every
        found = [near for line in self.lines if (near := self._near(line, moment, -1)) is not None]
        return max(found, default=None)

    def upcoming(self, moment: datetime) -> Iterator[datetime]:
        """All instants later than `moment`, in order."""
        found = self.after(moment)
        while found is not None:
            yield found
            found = self.after(found)

    def shortest_gap(self, moment: datetime, runs: int = 20) -> timedelta | None:
        """The shortest time between two of the next runs."""
        if self.every is not None:
            return self.every
        near = pairwise(islice(self.upcoming(moment), runs))
        return min((later - earlier for earlier, later in near), default=None)

    def _near(self, line: CronLine, moment: datetime, step: int) -> datetime | None:
        """The nearest instant of one line in a direction.

        A repeat can put the evening of a day behind the morning of the next. So the day after the first that has
        one is looked at, too.
        """
        dst = Dst.WALL if line.wall else self.dst
        best: datetime | None = None
        last: date | None = None
        for day in line.days(moment.astimezone(zone(self.timezone)).date() - step * _DAY, step):
            if last is not None and abs((day - last).days) > 1:
                break
            found = _in_day(line, local_day(day, self.timezone), dst, moment, step)
            if found is not None and (best is None or (found - best) * step < timedelta(0)):
                best = found
            if best is not None and last is None:
                last = day
        return best


def _in_day(line: CronLine, day: LocalDay, dst: Dst, moment: datetime, step: int) -> datetime | None:
    """The nearest instant on one local day."""
    if day.change is None:
        return _pick(line, day.start, moment, step)
    # Before the change the old offset holds, after it the new one. What is shown twice counts the second time only
    # for who follows the wall clock; what is never shown may run at the change itself.
    again = day.new if dst is Dst.WALL else max(day.old, day.new)
    found = [
        _pick(line, day.start, moment, step, below=day.old),
        _pick(line, day.change - day.new, moment, step, least=again),
    ]
    if dst is Dst.ONCE and line.names_between(day.old, day.new) and (day.change > moment) == (step > 0):
        found.append(day.change)
    near = [it for it in found if it is not None]
    return (min if step > 0 else max)(near, default=None)


def _pick(
    line: CronLine,
    start: datetime,
    moment: datetime,
    step: int,
    *,
    least: timedelta = timedelta(0),
    below: timedelta = _DAY,
) -> datetime | None:
    """The nearest of the line's minutes, counted from `start`, among those in [least, below)."""
    passed = moment - start
    if step > 0:
        place = max(bisect_right(line.minutes, passed // _MINUTE), bisect_left(line.minutes, least / _MINUTE))
        fits = place < len(line.minutes) and line.minutes[place] * _MINUTE < below
    else:
        place = (
            min(bisect_right(line.minutes, passed // _MINUTE), bisect_left(line.minutes, below / _MINUTE)) - 1
        )
        fits = place >= 0 and line.minutes[place] * _MINUTE >= least
    return start + line.minutes[place] * _MINUTE if fits else None


@lru_cache(maxsize=8192)
def cron_schedule(cron_expr: str, timezone: str, dst: Dst = Dst.ONCE) -> Schedule:
    """A schedule of cron lines, one a line of the text. ValueError says which line is wrong."""
    zone(timezone)
    lines = [line for line in cron_expr.splitlines() if line.strip()]
    if not lines:
        raise ValueError("is empty; write five fields, as in: 30 2 * * 1-5")
    if len(lines) > MOST_LINES:
        raise ValueError(f"has {len(lines)} lines; at most {MOST_LINES} are allowed")
    return Schedule(tuple(cron_line(line) for line in lines), timezone=timezone, dst=Dst(dst))


def every(length: str | float | timedelta, anchor: datetime, timezone: str = "UTC") -> Schedule:
    """A schedule of equal steps from `anchor` on, of 1 s to ten years."""
    return Schedule(every=step_of(length), timezone=timezone, anchor=anchor)


def step_of(length: object) -> timedelta:
    """The step of an `every`: text such as `15m`, seconds, or a timedelta. TypeError or ValueError says why not."""
    number = parse(length, "every") if isinstance(length, str) else seconds(length, "every")
    if not SHORTEST <= number <= LONGEST:
        raise ValueError(f"every must be at least {SHORTEST:g} second, not {number:g}")
    return timedelta(seconds=number)


def cron_text(given: str | Sequence[str]) -> str:
    """One or several lines as the text that is stored: one a line, each with single blanks."""
    lines = given.splitlines() if isinstance(given, str) else given
    return "\n".join(" ".join(line.split()) for line in lines if line.strip())
