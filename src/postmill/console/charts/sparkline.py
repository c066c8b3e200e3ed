"""A small line or row of bars within a line of text or a cell of a table."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from postmill.console.charts.data import Look
from postmill.console.charts.figure import svg
from postmill.console.charts.messages import nothing
from postmill.console.charts.numbers import Unit, checked, figure
from postmill.console.charts.plot import Plot, area, stroke
from postmill.console.charts.svg import element
from postmill.console.frame.words import _


def sparkline(
    values: Sequence[float | None],
    *,
    title: str,
    unit: Unit = Unit.COUNT,
    look: Look = "series-1",
    as_bars: bool = False,
    width: int = 120,
    height: int = 24,
) -> Markup:
    """The course of a value at a glance; its highest and its last figure are what it says in words. No table.

    Raises:
        ValueError: a value that is not a number from 0 up.
    """
    known = checked(values)
    seen = [value for value in known if value is not None]
    plot = Plot(width, height, max(seen, default=0.0) or 1.0, left=2, right=2, top=2, bottom=2)
    if as_bars:
        wide = plot.across / max(len(known), 1)
        drawn = [
            area(plot.left + n * wide, plot.y(value), max(wide - 1, 0.5), plot.floor - plot.y(value), look)
            for n, value in enumerate(known)
            if value
        ]
    else:
        runs: list[list[tuple[float, float]]] = [[]]
        for n, value in enumerate(known):
            if value is None:
                runs.append([])
            else:
                runs[-1].append((plot.x(n / max(len(known) - 1, 1)), plot.y(value)))
        drawn = [stroke(run, look) for run in runs if run]
    said = nothing()
    if seen:
        told = _("highest {highest}, last {last}")
        said = told.format(highest=figure(max(seen), unit), last=figure(known[-1], unit))
    return svg(f"{title}: {said}", said, element("g", *drawn), width=width, height=height)
