"""Bars over time, one upon another: what happened in each minute, hour or day."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo

from markupsafe import Markup

from postmill.console.charts.course import course
from postmill.console.charts.data import Mark, Series
from postmill.console.charts.figure import whole
from postmill.console.charts.marks import letters, time_axis
from postmill.console.charts.numbers import Unit
from postmill.console.charts.plot import Plot, area, hit, legend, plotted, so_far
from postmill.console.charts.svg import element, linked


def stacked_bars(
    times: Sequence[datetime],
    series: Sequence[Series],
    *,
    id: str,
    title: str,
    step: float,
    message: str | None = None,
    unit: Unit = Unit.COUNT,
    hrefs: Sequence[str | None] = (),
    marks: Sequence[Mark] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    now: datetime | None = None,
    zone: tzinfo = UTC,
    width: int = 640,
    height: int = 160,
) -> Markup:
    """A bar for each bucket of time, made of one part for each series, the first at the bottom.

    Args:
        times: where each bucket begins, in order; buckets without anything may be left out.
        series: values beside the times, from 0 up; None counts as nothing.
        id: unique on the page.
        step: seconds of a bucket.
        message: what it says in words; None: the highest and the last value of each series.
        hrefs: where a click on each bar leads, within the console.
        marks: what happened meanwhile.
        since, until: ends of the axis; None: of the data.
        now: within the bucket that has not ended, which is drawn apart; None: all have.

    Raises:
        ValueError: a value that is not a number from 0 up, or not one for each moment.
    """
    shown = course(times, series, hrefs, marks, since, until, unit, zone, step, now)
    highest = max((_sum(one.values[n] for one in shown.series) for n in range(len(shown.times))), default=0.0)
    named = len(series) > 1
    plot, grid = plotted(highest, unit, width, height, legend=named, marks=bool(shown.marks))
    wide = plot.across * min(step / shown.span, 1.0)
    lefts = [plot.x(shown.share(n)) for n in range(len(shown.times))]
    widths = [min(wide, plot.x(1) - left) for left in lefts]
    bars = [
        linked(
            shown.hrefs[n],
            shown.label(n),
            hit(lefts[n], plot.top, widths[n], plot.floor - plot.top),
            *_stack(plot, lefts[n], widths[n], shown.series, n),
        )
        for n in range(len(shown.times))
    ]
    veil = [so_far(plot, lefts[n], widths[n], legend=named) for n in range(len(shown.times)) if shown.open(n)]
    axis = time_axis(plot, shown.since, shown.until, shown.marks, zone)
    drawing = element("g", *veil, grid, legend(series) if named else "", *bars, axis)
    said = (shown.said() if message is None else message) + letters(shown.marks)
    return whole(id, title, said, drawing, shown.details(id, title), width=width, height=height)


def _stack(plot: Plot, x: float, wide: float, series: Sequence[Series], n: int) -> list[Markup]:
    gap = min(1.0, wide / 5)
    below = 0.0
    found = []
    for one in series:
        above = _sum((below, one.values[n]))
        if above > below:
            found.append(
                area(x + gap / 2, plot.y(above), wide - gap, plot.y(below) - plot.y(above), one.look)
            )
        below = above
    return found


def _sum(values: Iterable[float | None]) -> float:
    return min(sum(value or 0.0 for value in values), sys.float_info.max)
