"""Tables as SVG: boxes in columns, and behind them lines where a foreign key leads from one to another."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass

from tests.support.erd.tables import Column, Tables

WIDE = 1180
_COLUMNS, _EDGE, _GUTTER, _ROW, _HEAD, _GAP = 4, 10, 34, 16, 26, 22
_BOX = (WIDE - 2 * _EDGE - (_COLUMNS - 1) * _GUTTER) // _COLUMNS

_STYLE = """
    text { font: 11.5px ui-monospace, monospace; fill: #2b2f3a } .name { font-weight: 700; font-size: 12.5px }
    .key { font-weight: 700 } .type { fill: #6b7288; text-anchor: end } .to { fill: #b3541e }
    rect { fill: #f8f9fd; stroke: #4051b5; stroke-width: 1.2 } .head { fill: #e3e7f6 }
    path { fill: none; stroke: #b3541e; stroke-width: 1.3 } marker path { fill: #b3541e; stroke: none }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6e8f0 } .type { fill: #9aa2ba } .to { fill: #ffab78 }
      rect { fill: #232736; stroke: #8c9eff } .head { fill: #323850 }
      path { stroke: #ffab78 } marker path { fill: #ffab78 }
    }"""

Values = Mapping[tuple[str, str], str]
"""What a column names without a foreign key: table (or `*`) and column → table."""


@dataclass(frozen=True, slots=True)
class _Place:
    x: int
    y: int
    high: int


def drawing(title: str, tables: Tables, values: Values | None = None) -> str:
    """The drawing of these tables."""
    places = _places(tables)
    high = max(place.y + place.high for place in places.values()) + _EDGE
    lines = "".join(_lines(table, columns, places) for table, columns in tables.items())
    boxes = "".join(_box(table, columns, places[table], values or {}) for table, columns in tables.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {high}" role="img" aria-labelledby="t">\n'
        f'  <title id="t">{html.escape(title)}</title>\n  <style>{_STYLE}\n  </style>\n'
        '  <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0 L8 4 L0 8 z"/></marker>\n{lines}{boxes}</svg>\n'
    )


def _places(tables: Tables) -> dict[str, _Place]:
    """The largest first, each into the column that is shortest."""
    feet = [_EDGE] * _COLUMNS
    made = {}
    for table in sorted(tables, key=lambda name: (-len(tables[name]), name)):
        at = feet.index(min(feet))
        high = _HEAD + _ROW * len(tables[table]) + 6
        made[table] = _Place(_EDGE + at * (_BOX + _GUTTER), feet[at], high)
        feet[at] += high + _GAP
    return made


def _box(table: str, columns: list[Column], place: _Place, values: Values) -> str:
    x, y = place.x, place.y
    made = (
        f'  <rect x="{x}" y="{y}" width="{_BOX}" height="{place.high}" rx="5"/>\n'
        f'  <rect class="head" x="{x}" y="{y}" width="{_BOX}" height="{_HEAD - 4}" rx="5"/>'
        f'<text class="name" x="{x + 8}" y="{y + 16}">{table}</text>\n'
    )
    for number, column in enumerate(columns):
        foot = y + _HEAD + _ROW * number + 10
        named = column.refers or values.get((table, column.name)) or values.get(("*", column.name))
        to = (
            f' <tspan class="to">{"→" if column.refers else "·"} {named}</tspan>'
            if named and named != table
            else ""
        )
        look = ' class="key"' if column.key else ""
        made += (
            f'  <text{look} x="{x + 8}" y="{foot}">{column.name}{to}</text>'
            f'<text class="type" x="{x + _BOX - 8}" y="{foot}">{html.escape(_fitting(column, to))}</text>\n'
        )
    return made


def _fitting(column: Column, to: str) -> str:
    """The type, where there is room beside the name."""
    room = 36 - len(column.name) - (len(to) and 3 + to.count("_") + len(to.split(">")[1].split("<")[0]))
    return column.type if len(column.type) <= room else ""


def _lines(table: str, columns: list[Column], places: Mapping[str, _Place]) -> str:
    return "".join(_line(table, column, number, places) for number, column in enumerate(columns))


def _line(table: str, column: Column, number: int, places: Mapping[str, _Place]) -> str:
    """From a column to the head of the table that it leads to, if that is in the drawing and another one."""
    end = places.get(column.refers or "")
    if end is None or column.refers == table:
        return ""
    start = places[table]
    y, foot = start.y + _HEAD + _ROW * number + 6, end.y + 11
    if start.x == end.x:  # in one column: around the left side
        bend = max(2, start.x - 16)
        path = f"M{start.x} {y} C{bend} {y} {bend} {foot} {end.x - 2} {foot}"
    else:
        right = end.x > start.x
        x, to = (start.x + _BOX, end.x - 2) if right else (start.x, end.x + _BOX + 2)
        bend = _GUTTER if right else -_GUTTER
        path = f"M{x} {y} C{x + bend} {y} {to - bend} {foot} {to} {foot}"
    return f'  <path d="{path}" marker-end="url(#head)"/>\n'
