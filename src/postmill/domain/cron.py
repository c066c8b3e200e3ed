"""One line of cron: which days and which minutes of a day it names. Which instants these are, `zone` tells.

cronsim reads the line. How it walks over a change of the clock is not used: with a change of half an hour it leaves
minutes out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache

from cronsim import CronSim, CronSimError

LONGEST_LINE = 200
"""Characters of one line."""

HORIZON_YEARS = 50
"""A line that names no day within so many years never comes."""

MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

_FIELDS = "minute hour day-of-month month day-of-week"
_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)
_ANY = datetime(2024, 1, 1)


class CronLine:
    """A line of five fields (minute, hour, day of month, month, day of week), or a macro such as `@daily`.

    Day of month and day of week: where one of them begins with `*` both must fit, else one of them suffices, as in
    Debian's cron. `L` and `LW` are a month's last day and last weekday, `5L` its last Friday, `5#2` its second.

    Attributes:
        text: the line, with single blanks.
        minutes: the minutes of a day that it names, in order, from 0 to 1439.
        wall: minute or hour begins with `*`: then it follows the wall clock where that is changed.

    Raises:
        ValueError: no such line, or one whose days never come.
    """

    __slots__ = ("_cron", "minutes", "text", "wall")

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST_LINE:
            raise ValueError(
                f"a line of cron has at most {LONGEST_LINE} characters, this one has {len(text)}"
            )
        self.text = " ".join(text.split())
        written = MACROS.get(self.text.lower(), self.text)
        fields = written.split()
        if len(fields) != 5:
            if written.startswith("@"):
                raise ValueError(f"{self.text!r} is none of: {', '.join(MACROS)}")
            raise ValueError(f"{self.text!r} is not five fields ({_FIELDS}), as in: 30 2 * * 1-5")
        try:
            # The moment is of no account, only the fields are read; without a zone it does not look at changes.
            self._cron = CronSim(written, _ANY)
        except (CronSimError, ValueError) as fault:
            raise ValueError(f"{self.text!r}: {_why(str(fault))}") from None
        self.minutes = tuple(
            sorted(hour * 60 + minute for hour in self._cron.hours for minute in self._cron.minutes)
        )
        self.wall = fields[0].startswith("*") or fields[1].startswith("*")
        if next(self.days(_ANY.date(), 1), None) is None:
            raise ValueError(f"{self.text!r} names a day that never comes")

    def days(self, start: date, step: int) -> Iterator[date]:
        """The days that it names, from `start` on, upwards (`step` 1) or downwards (-1), for fifty years."""
        months, match = self._cron.months, self._cron.match_day
        day, last = start, HORIZON_YEARS
        while abs(day.year - start.year) <= last:
            if day.month not in months:
                day = _next_month(day) if step > 0 else day.replace(day=1) - _DAY
                continue
            if match(day):
                yield day
            day += step * _DAY

    def names_between(self, since: timedelta, until: timedelta) -> bool:
        """Whether a minute that it names lies in [since, until), counted from midnight."""
        place = bisect_left(self.minutes, since / _MINUTE)
        return place < len(self.minutes) and self.minutes[place] * _MINUTE < until

    def words(self) -> str:
        """The line in English: `At 08:00 on Monday through Friday`."""
        return str(self._cron.explain())

    def __repr__(self) -> str:
        return f"<cron {self.text!r}>"


@lru_cache(maxsize=8192)
def cron_line(text: str) -> CronLine:
    """The line, parsed once. ValueError as for CronLine."""
    return CronLine(text)


def _next_month(day: date) -> date:
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)


def _why(fault: str) -> str:
    return fault.replace("Bad ", "no valid ") if fault.startswith("Bad ") else "cannot be read"
