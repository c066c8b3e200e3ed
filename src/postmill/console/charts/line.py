"""Lines over time: levels, quantiles, rates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from markupsafe import Markup

from postmill.console.charts.course import Course, course
from postmill.console.charts.data import Level, Mark, Series
from postmill.console.charts.figure import whole
from postmill.console.charts.marks import letters, time_axis
from postmill.console.charts.numbers import Unit, checked, figure
from postmill.console.charts.plot import Plot, hit, legend, level_line, plotted, so_far, stroke
from postmill.console.charts.svg import element, linked


def line(
    times: Sequence[datetime],
    series: Sequence[Series],
    *,
    id: str,
    title: str,
    step: float = 0.0,
    message: str | None = None,
    unit: Unit = Unit.COUNT,
    levels: Sequence[Level] = (),
    hrefs: Sequence[str | None] = (),
    marks: Sequence[Mark] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    now: datetime | None = None,
    zone: tzinfo = UTC,
    width: int = 640,
    height: int = 160,
) -> Markup:
    """A line for each series through the moments; None interrupts it.

    Args:
        times: the moments, in order.
        id: unique on the page.
        step: seconds of which each value is told, from its moment on; it stands in their middle. 0: of the moment.
        message: what it says in words; None: the highest and the last value of each series.
        levels: targets, drawn across.
        hrefs: where a click on each moment leads, within the console.
        marks: what happened meanwhile.
        since, until: ends of the axis; None: of the data.
        now: within the bucket that has not ended, which is drawn apart; None: all have.

    Raises:
        ValueError: a value that is not a number from 0 up, or not one for each moment.
    """
    shown = course(times, series, hrefs, marks, since, until, unit, zone, step, now)
    heights = checked([level.value for level in levels]) + [v for one in shown.series for v in one.values]
    named: list[Series | Level] = [*series, *levels]
    highest = max((value or 0.0 for value in heights), default=0.0)
    plot, grid = plotted(highest, unit, width, height, legend=len(named) > 1, marks=bool(shown.marks))
    lines = [drawn for one in shown.series for drawn in _lines(plot, shown, one)]
    wide = plot.across / max(len(shown.times), 1)
    columns = [
        linked(
            shown.hrefs[n],
            shown.label(n),
            hit(plot.x(shown.middle(n)) - wide / 2, plot.top, wide, plot.floor - plot.top),
        )
        for n in range(len(shown.times))
    ]
    veil = [
        so_far(plot, plot.x(shown.share(n)), plot.x(1) - plot.x(shown.share(n)), legend=len(named) > 1)
        for n in range(len(shown.times))
        if shown.open(n)
    ]
    names = legend(named) if len(named) > 1 else ""
    axis = time_axis(plot, shown.since, shown.until, shown.marks, zone)
    drawing = element(
        "g", *veil, grid, names, *(level_line(plot, level) for level in levels), *lines, *columns, axis
    )
    notes = [(f"{level.name}: {figure(level.value, unit)}", None) for level in levels]
    said = (shown.said() if message is None else message) + letters(shown.marks)
    return whole(id, title, said, drawing, shown.details(id, title, notes), width=width, height=height)


def _lines(plot: Plot, shown: Course, one: Series) -> list[Markup]:
    """Runs of values; what leads to the bucket that has not ended is faint."""
    ends = len(shown.times) - 1
    last = one.values[ends] if ends >= 0 and shown.open(ends) else None
    whole = one.values if last is None else one.values[:ends]
    runs: list[list[tuple[float, float]]] = [[]]
    for n, value in enumerate(whole):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((plot.x(shown.middle(n)), plot.y(value)))
    drawn = [stroke(run, one.look) for run in runs if run]
    if last is not None:
        drawn.append(
            stroke([*runs[-1][-1:], (plot.x(shown.middle(ends)), plot.y(last))], one.look, faint=True)
        )
    return drawn
