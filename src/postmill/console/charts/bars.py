"""Bars of names: which of several is how much, from left to right, one beneath another."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from postmill.console.charts.data import Bar
from postmill.console.charts.figure import whole
from postmill.console.charts.messages import of_cells
from postmill.console.charts.numbers import Unit, checked, figure
from postmill.console.charts.plot import area, hit, text
from postmill.console.charts.svg import clean, element, linked
from postmill.console.charts.table import table
from postmill.console.frame.words import _

_ROW = 22
_NAMES = 150.0
_FIGURES = 70.0


def bars(
    data: Sequence[Bar],
    *,
    id: str,
    title: str,
    message: str | None = None,
    unit: Unit = Unit.COUNT,
    width: int = 640,
) -> Markup:
    """A bar for each name, in the order given, with its figure beside it.

    Args:
        id: unique on the page.
        message: what it says in words; None: how many there are and which is the largest.

    Raises:
        ValueError: a value that is not a number from 0 up.
    """
    values = [value or 0.0 for value in checked([bar.value for bar in data])]
    highest = max(values, default=0.0) or 1.0
    field = width - _NAMES - _FIGURES
    rows = []
    for n, (bar, value) in enumerate(zip(data, values, strict=True)):
        y = n * _ROW + 3.0
        told = figure(value, unit)
        rows.append(
            linked(
                bar.href,
                f"{bar.label}: {told}",
                hit(0, y, width, _ROW),
                text(_NAMES - 6, y + 14, clean(bar.label, 21), anchor="end"),
                area(_NAMES, y + 3, max(value / highest * field, 1.0 if value else 0.0), _ROW - 8, bar.look),
                text(_NAMES + value / highest * field + 5, y + 14, told),
            )
        )
    drawing = element("g", *rows)
    details = table(
        id,
        title,
        [_("Name"), _("Value")],
        [[bar.label, figure(value, unit)] for bar, value in zip(data, values, strict=True)],
        [bar.href for bar in data],
    )
    said = of_cells([bar.label for bar in data], values, unit) if message is None else message
    return whole(id, title, said, drawing, details, width=width, height=len(rows) * _ROW + 6)
