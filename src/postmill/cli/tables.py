"""How lists and states look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
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
"""Characters of a column that a narrow terminal leaves; the beginning of an id has as many."""

SQUEEZED = 8
"""What is left where even that is too much; the first column keeps its own."""

GAP = 3
"""Characters between two columns."""


def state(name: str) -> Text:
    """A state in its color."""
    return Text(name, style=STATE_STYLES.get(name, ""))


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    right: Sequence[str] = (),
    kept: Mapping[str, int] | None = None,
) -> Grid:
    """Rows under a plain header, never wrapped.

    On a narrow terminal the last column is cut first, then the widest, down to `kept` (default 20) characters.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    return Grid(tuple(columns), cells, frozenset(right), dict(kept or {}))


@dataclass(frozen=True)
class Grid:
    """A table that fits itself into the terminal it is printed on."""

    columns: tuple[str, ...]
    cells: list[list[Text]]
    right: frozenset[str]
    kept: dict[str, int]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
        for name, width in zip(self.columns, self.widths(options.max_width), strict=True):
            justify: Literal["left", "right"] = "right" if name in self.right else "left"
            made.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis", width=width)
        for row in self.cells:
            made.add_row(*row)
        yield made

    def widths(self, most: int) -> list[int]:
        """The width of each column on a terminal of `most` columns."""
        found = [
            max([len(name), *(row[n].cell_len for row in self.cells)]) for n, name in enumerate(self.columns)
        ]
        last = len(found) - 1
        for least in (KEPT, SQUEEZED):
            for n in [last, *sorted(range(last), key=lambda n: -found[n])]:
                excess = sum(found) + GAP * last - most
                if excess > 0:
                    floor = self.kept.get(
                        self.columns[n], SQUEEZED if n == last else KEPT if n == 0 else least
                    )
                    found[n] = max(min(found[n], floor), len(self.columns[n]), found[n] - excess)
        return found


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
