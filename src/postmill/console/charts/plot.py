"""The ground of a chart: where its edges are, its grid with figures, its legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from postmill.console.charts.data import Level, Look, Series
from postmill.console.charts.numbers import Unit, tick
from postmill.console.charts.scale import nice_ticks
from postmill.console.charts.svg import clean, element, rectangle
from postmill.console.frame.words import _

LETTER = 8.7
"""Width of a letter in the chart's own units, about, where letters are largest: on a telephone."""


@dataclass(frozen=True, slots=True)
class Plot:
    """The field within the axes, in the chart's own units; values grow upwards."""

    width: float
    height: float
    highest: float
    left: float = 46.0
    right: float = 8.0
    top: float = 8.0
    bottom: float = 18.0

    @property
    def across(self) -> float:
        """Width of the field."""
        return self.width - self.left - self.right

    @property
    def floor(self) -> float:
        """Where zero is."""
        return self.height - self.bottom

    def x(self, share: float) -> float:
        """Of a share from 0 (left) to 1."""
        return self.left + share * self.across

    def y(self, value: float) -> float:
        """Of a value; what is higher than the field ends at its edge."""
        return self.floor - min(value / self.highest, 1.0) * (self.floor - self.top)


def plotted(
    highest: float, unit: Unit, width: int, height: int, *, legend: bool, marks: bool = False
) -> tuple[Plot, Markup]:
    """The field for values up to `highest`, and its grid."""
    ticks = nice_ticks(highest, unit, max(2, min(5, height // 35)))
    top = 8.0 + (14.0 if legend else 0.0) + (12.0 if marks else 0.0)
    plot = Plot(width, height, ticks[-1], top=top)
    lines = [
        element(
            "line",
            cls="grid",
            x1=plot.left,
            x2=plot.x(1),
            y1=plot.y(at),
            y2=plot.y(at),
            stroke="currentColor",
        )
        for at in ticks
    ]
    figures = [text(plot.left - 5, plot.y(at) + 4, tick(at, unit), anchor="end") for at in ticks]
    return plot, element("g", *lines, *figures, aria_hidden="true")


def text(x: float, y: float, words: str, *, anchor: str = "start", look: Look = "axis") -> Markup:
    """Words in the chart."""
    return element("text", words, cls=look, x=x, y=y, text_anchor=anchor, font_size=11, fill="currentColor")


def area(x: float, y: float, width: float, height: float, look: Look) -> Markup:
    """A filled rectangle."""
    return rectangle(x, y, width, max(height, 0.0), look)


def so_far(plot: Plot, x: float, wide: float, *, legend: bool) -> Markup:
    """A bucket that has not ended: a veil under it, with words beside the legend or in the field, so that what is missing is
    not read as a fall."""
    words = _("so far")
    told = (
        text(x + wide, 11.5, words, anchor="end")
        if legend
        else text(x - 4, plot.top + 11, words, anchor="end")
    )
    return element("g", area(x, plot.top, wide, plot.floor - plot.top, "so-far"), told, aria_hidden="true")


def hit(x: float, y: float, width: float, height: float) -> Markup:
    """What the pointer meets: a whole column, however small its bar."""
    return rectangle(x, y, width, height)


def stroke(
    points: Sequence[tuple[float, float]], look: Look, *, dashed: bool = False, faint: bool = False
) -> Markup:
    """A line through points; a single one is a dot."""
    if len(points) == 1:
        x, y = points[0]
        return element(
            "circle", cls=look, cx=x, cy=y, r=2.5, fill="currentColor", opacity=0.5 if faint else None
        )
    return element(
        "polyline",
        cls=look,
        points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points),
        fill="none",
        stroke="currentColor",
        stroke_width=1.75,
        stroke_dasharray="2 3" if faint else "4 3" if dashed else None,
        opacity=0.5 if faint else None,
    )


def legend(series: Sequence[Series | Level], left: float = 46.0) -> Markup:
    """The names of the series with their colours, in their order from the left."""
    parts: list[Markup] = []
    for one in series:
        name = clean(one.name, 24)
        parts += [area(left, 3, 9, 9, one.look), text(left + 13, 11.5, name)]
        left += 13 + len(name) * LETTER + 14
    return element("g", *parts, aria_hidden="true")


def level_line(plot: Plot, level: Level) -> Markup:
    """A target across the chart."""
    y = plot.y(level.value)
    return element(
        "g",
        element("title", clean(level.name)),
        stroke([(plot.left, y), (plot.x(1), y)], level.look, dashed=True),
    )
