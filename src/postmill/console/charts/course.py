"""What charts over time have in common: the moments shown, their values, what each says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from markupsafe import Markup

from postmill.console.charts.data import Mark, Series
from postmill.console.charts.marks import mark_text, within
from postmill.console.charts.messages import over_time
from postmill.console.charts.numbers import Unit, checked, figure
from postmill.console.charts.svg import clean
from postmill.console.charts.table import table
from postmill.console.charts.time_axis import bucket_text
from postmill.console.frame.words import _


@dataclass(frozen=True, slots=True)
class Course:
    """The part of the data within [since, until]; `step` is the seconds of a bucket, 0 for moments. `now`: the bucket that it
    is in has not ended, and its values are so far only; None: all have."""

    times: list[datetime]
    series: list[Series]
    hrefs: list[str | None]
    marks: list[Mark]
    since: datetime
    until: datetime
    unit: Unit
    zone: tzinfo
    step: float = 0.0
    now: datetime | None = None

    def open(self, n: int) -> bool:
        """Whether a bucket has not ended yet."""
        return self.now is not None and self.times[n] <= self.now < self.times[n] + timedelta(
            seconds=self.step
        )

    @property
    def span(self) -> float:
        """Seconds from end to end."""
        return (self.until - self.since).total_seconds()

    def share(self, n: int) -> float:
        """Where on the axis a moment is, from 0 to 1."""
        return (self.times[n] - self.since).total_seconds() / self.span

    def middle(self, n: int) -> float:
        """Where the middle of a bucket is: what is told of all of it stands there, and marks beside it where they belong."""
        return min(self.share(n) + self.step / 2 / self.span, 1.0)

    def label(self, n: int) -> str:
        """What happened at a moment."""
        told = ", ".join(f"{one.name} {figure(one.values[n], self.unit)}" for one in self.series)
        return f"{self._bucket(n)}: {told}"

    def _bucket(self, n: int) -> str:
        text = bucket_text(self.times[n], self.step, self.zone)
        return _("%s, so far") % text if self.open(n) else text

    def said(self) -> str:
        """The message in words."""
        return over_time(self.times, self.series, self.unit, self.zone, self.step)

    def details(self, id: str, title: str, notes: Sequence[tuple[str, str | None]] = ()) -> Markup:
        """The table."""
        rows = [
            [
                self._bucket(n),
                *(figure(one.values[n], self.unit) for one in self.series),
            ]
            for n in range(len(self.times))
        ]
        told = [*notes, *((mark_text(mark, self.zone), mark.href) for mark in self.marks)]
        return table(
            id, title, [_("Time"), *(clean(one.name) for one in self.series)], rows, self.hrefs, told
        )


def course(
    times: Sequence[datetime],
    series: Sequence[Series],
    hrefs: Sequence[str | None],
    marks: Sequence[Mark],
    since: datetime | None,
    until: datetime | None,
    unit: Unit,
    zone: tzinfo,
    step: float = 0.0,
    now: datetime | None = None,
) -> Course:
    """What is to be shown; `step` is the seconds of a bucket, `now` is within the one that has not ended.

    Raises:
        ValueError: a value that is not a number from 0 up, or not one for each moment.
    """
    values = [checked(one.values) for one in series]
    if any(len(one) != len(times) for one in values):
        raise ValueError("a chart has one value for each moment in each series")
    since = since or (times[0] if times else datetime.fromtimestamp(0, UTC))
    until = until or (times[-1] + timedelta(seconds=step) if times else since)
    if until <= since:
        until = since + timedelta(seconds=step or 1)
    shown = [n for n, at in enumerate(times) if since <= at and (at < until if step else at <= until)]
    return Course(
        [times[n] for n in shown],
        [
            Series(one.name, [known[n] for n in shown], one.look)
            for one, known in zip(series, values, strict=True)
        ],
        [hrefs[n] if n < len(hrefs) else None for n in shown],
        within(marks, since, until),
        since,
        until,
        unit,
        zone,
        step,
        now,
    )
