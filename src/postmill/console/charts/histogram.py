"""How often which size came: the cells of a stored histogram."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from postmill.console.charts.data import Level, Look
from postmill.console.charts.figure import whole
from postmill.console.charts.messages import nothing
from postmill.console.charts.numbers import Unit, checked, figure, tick
from postmill.console.charts.plot import Plot, area, hit, legend, plotted, stroke, text
from postmill.console.charts.svg import clean, element, linked
from postmill.console.charts.table import table
from postmill.console.frame.words import _


def histogram(
    bounds: Sequence[float],
    counts: Sequence[float],
    *,
    id: str,
    title: str,
    message: str | None = None,
    unit: Unit = Unit.SECONDS,
    levels: Sequence[Level] = (),
    hrefs: Sequence[str | None] = (),
    look: Look = "series-1",
    width: int = 640,
    height: int = 160,
) -> Markup:
    """A bar for each cell, all as wide: of sizes that grow by powers that is what people can read.

    Args:
        bounds: the upper bound of each cell, growing; one more count than bounds is of all beyond.
        counts: how many were in each cell.
        levels: quantiles or targets, drawn where they lie.

    Raises:
        ValueError: a value that is not a number from 0 up, or counts that do not fit the bounds.
    """
    if len(counts) not in (len(bounds), len(bounds) + 1) or list(bounds) != sorted(set(bounds)):
        raise ValueError("a histogram has growing bounds, and a count for each, or one more")
    checked([*bounds, *(level.value for level in levels)])
    known = [value or 0.0 for value in checked(counts)]
    names = _names(bounds, len(known), unit)
    plot, grid = plotted(max(known, default=0.0), Unit.COUNT, width, height, legend=bool(levels))
    wide = plot.across / max(len(known), 1)
    cells = [
        linked(
            hrefs[n] if n < len(hrefs) else None,
            f"{names[n]}: {figure(value)}",
            hit(plot.x(0) + n * wide, plot.top, wide, plot.floor - plot.top),
            area(plot.x(0) + n * wide + 0.5, plot.y(value), wide - 1, plot.floor - plot.y(value), look),
        )
        for n, value in enumerate(known)
    ]
    every = max(1, -(-len(bounds) // max(1, int(plot.across // 55))))
    axis = [
        text(plot.x(0) + (n + 1) * wide, height - 4, tick(bound, unit), anchor="middle")
        for n, bound in enumerate(bounds)
        if n % every == every - 1 and n + 1 < len(known)
    ]
    lines = [_level(plot, wide, bounds, level) for level in levels]
    drawing = element("g", grid, legend(levels), *cells, *lines, element("g", *axis, aria_hidden="true"))
    notes = [(f"{level.name}: {figure(level.value, unit)}", None) for level in levels]
    rows = [[name, figure(value)] for name, value in zip(names, known, strict=True)]
    details = table(id, title, [_("Size"), _("Count")], rows, hrefs, notes)
    if message is None:
        message = " ".join([_said(names, known), *(f"{note}." for note, _href in notes)])
    return whole(id, title, message, drawing, details, width=width, height=height)


def _said(names: Sequence[str], known: Sequence[float]) -> str:
    if not any(known):
        return nothing()
    most = max(range(len(known)), key=known.__getitem__)
    told = _("{n} in all, most of them {name}.")
    return told.format(n=figure(sum(known)), name=names[most])


def _names(bounds: Sequence[float], n: int, unit: Unit) -> list[str]:
    told = [_("up to {bound}").format(bound=tick(bound, unit)) for bound in bounds]
    return (
        told
        if n == len(bounds)
        else [*told, _("beyond {bound}").format(bound=tick(bounds[-1], unit)) if bounds else _("all")]
    )


def _level(plot: Plot, wide: float, bounds: Sequence[float], level: Level) -> Markup:
    cell = next((n for n, bound in enumerate(bounds) if level.value <= bound), None)
    if cell is None:
        x = plot.x(1)
    else:
        low = bounds[cell - 1] if cell else 0.0
        x = plot.x(0) + (cell + (level.value - low) / ((bounds[cell] - low) or 1.0)) * wide
    drawn = stroke([(x, plot.top), (x, plot.floor)], level.look, dashed=True)
    return element("g", element("title", clean(level.name)), drawn)
