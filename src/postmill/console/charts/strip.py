"""The last runs in a row: one cell each, by colour and height how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from postmill.console.charts.data import Cell
from postmill.console.charts.figure import svg
from postmill.console.charts.plot import area, hit
from postmill.console.charts.svg import element, linked
from postmill.console.frame.words import _

_TALL = {"ok": 0.55, "warn": 0.8, "bad": 1.0}


def strip(cells: Sequence[Cell], *, title: str, message: str | None = None, height: int = 20) -> Markup:
    """A cell for each run, the oldest first. What went well is low and what failed stands out, also without colour.

    Args:
        message: what it says in words; None: how many went well, so-so, and badly.
    """
    counts = Counter(cell.look for cell in cells)
    if message is None:
        told = _("{n} runs: {ok} well, {bad} failed")
        message = told.format(n=len(cells), ok=counts["ok"], bad=counts["bad"]) if cells else _("no runs yet")
    drawn = []
    for n, cell in enumerate(cells):
        tall = (height - 2) * _TALL.get(cell.look, 0.3)
        drawn.append(
            linked(
                cell.href,
                cell.label,
                hit(n * 8, 0, 8, height),
                area(n * 8 + 1, height - 1 - tall, 6, tall, cell.look),
            )
        )
    drawing = element("g", *drawn)
    return svg(f"{title}: {message}", message, drawing, width=max(len(cells) * 8, 8), height=height)
