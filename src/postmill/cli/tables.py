"""How lists and states look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from postmill.cli.text import one_line

STATE_STYLES = {
    "scheduled": "cyan",
    "queued": "blue",
    "blocked": "magenta",
    "running": "bold blue",
    "draining": "yellow",
    "succeeded": "green",
    "failed": "red",
    "timeout": "red",
    "canceled": "yellow",
    "dead_letter": "bold red",
    "lost": "red",
    "snoozed": "cyan",
    "interrupted": "yellow",
    "stopped": "dim",
}

Cell = str | int | Text | None

KEPT = 20
"""Characters of a column that a narrow terminal leaves; the beginning of an id is one of them."""


def state(name: str) -> Text:
    """A state in its color."""
    return Text(name, style=STATE_STYLES.get(name, ""))


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, right: Sequence[str] = ()) -> Table:
    """Rows under a plain header. On a narrow terminal the last column is cut first, and nothing is wrapped."""
    cells = [[_cell(value) for value in row] for row in rows]
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for place, name in enumerate(columns):
        widest = max((row[place].cell_len for row in cells), default=0)
        last = place == len(columns) - 1
        made.add_column(
            name,
            justify="right" if name in right else "left",
            no_wrap=True,
            overflow="ellipsis",
            min_width=len(name) if last else max(len(name), min(widest, KEPT)),
        )
    for row in cells:
        made.add_row(*row)
    return made


def pairs(rows: Iterable[tuple[str, RenderableType | None]]) -> Table:
    """Names and values, one pair a line; values of None are left out."""
    made = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        if value is not None:
            made.add_row(name, value if not isinstance(value, str) else Text(value))
    return made


def _cell(value: Cell) -> Text:
    if isinstance(value, Text):
        return value
    return Text("–" if value is None else one_line(value, 300))
