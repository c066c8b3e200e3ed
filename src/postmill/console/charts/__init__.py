"""Charts as SVG, made by the server from plain data: attributes and classes only, links, words, a table beneath each.

Colours are classes (`series-1` … `series-6`, `ok`, `warn`, `bad`, `grid`, `axis`): a style sheet gives each its
`color`, and every shape is filled or stroked with `currentColor`.
"""

from __future__ import annotations

from postmill.console.charts.bars import bars
from postmill.console.charts.data import Bar, Cell, Level, Look, Mark, MarkKind, Row, Series, Span
from postmill.console.charts.gauge import gauge
from postmill.console.charts.histogram import histogram
from postmill.console.charts.line import line
from postmill.console.charts.numbers import Unit, figure, seconds, share
from postmill.console.charts.sparkline import sparkline
from postmill.console.charts.stacked_bars import stacked_bars
from postmill.console.charts.strip import strip
from postmill.console.charts.timeline import timeline

__all__ = [
    "Bar",
    "Cell",
    "Level",
    "Look",
    "Mark",
    "MarkKind",
    "Row",
    "Series",
    "Span",
    "Unit",
    "bars",
    "figure",
    "gauge",
    "histogram",
    "line",
    "seconds",
    "share",
    "sparkline",
    "stacked_bars",
    "strip",
    "timeline",
]
