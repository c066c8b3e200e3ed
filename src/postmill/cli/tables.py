"""How lists and states look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from postmill.cli.text import one_line, plain

STATE_STYLES = {
    "scheduled": "cyan",
    "queued": "blue",
    "blocked": "magenta",
    "held": "bold magenta",
    "compensating": "yellow",
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
    spare: Sequence[str] = (),
) -> Grid:
    """Rows under a plain header, never wrapped.

    On a narrow terminal the last column is cut first, then the widest, down to `kept` (default 20) characters. Where
    that is not enough columns are left out: empty ones, those in `spare`, then from the right.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    return Grid(tuple(columns), cells, frozenset(right), dict(kept or {}), tuple(spare))


@dataclass(frozen=True)
class Grid:
    """A table that fits itself into the terminal it is printed on."""

    columns: tuple[str, ...]
    cells: list[list[Text]]
    right: frozenset[str]
    kept: dict[str, int]
    spare: tuple[str, ...] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
        widths = self.widths(options.max_width)
        for n, width in widths.items():
            justify: Literal["left", "right"] = "right" if self.columns[n] in self.right else "left"
            made.add_column(self.columns[n], justify=justify, no_wrap=True, overflow="ellipsis", width=width)
        for row in self.cells:
            made.add_row(*(row[n] for n in widths))
        yield made

    def widths(self, most: int) -> dict[int, int]:
        """The columns for a terminal of `most` characters, and their widths."""
        natural = [
            max([len(name), *(row[n].cell_len for row in self.cells)]) for n, name in enumerate(self.columns)
        ]
        found = {n: natural[n] for n in self._fitting(natural, most)}
        last = max(found)
        for least in (KEPT, SQUEEZED):
            for n in [last, *sorted(found.keys() - {last}, key=lambda n: (-found[n], n))]:
                excess = _total(found.values()) - most
                if excess > 0:
                    found[n] = max(min(found[n], self._floor(n, natural, least)), found[n] - excess)
        return found

    def _fitting(self, natural: Sequence[int], most: int) -> list[int]:
        """The columns that can be squeezed into `most` characters; the first one and another stay."""
        every = range(len(self.columns))
        empty = [n for n in every if all(row[n].plain in ("", "–") for row in self.cells)]
        spare = [n for n in every if self.columns[n] in self.spare]
        left = list(every)
        for n in [*empty, *spare, *reversed(every)]:
            if len(left) <= 2 or _total(self._floor(n, natural, SQUEEZED) for n in left) <= most:
                break
            if n in left and n != 0:
                left.remove(n)
        return left

    def _floor(self, n: int, natural: Sequence[int], least: int) -> int:
        """What is left of a column at least: the whole of a short one, and always its name."""
        last = n == len(self.columns) - 1
        kept = self.kept.get(self.columns[n], SQUEEZED if last else KEPT if n == 0 else least)
        return max(min(natural[n], kept), len(self.columns[n]))


def _total(widths: Iterable[int]) -> int:
    """Characters of a line of columns so wide."""
    each = list(widths)
    return sum(each) + GAP * (len(each) - 1)


def pairs(rows: Iterable[tuple[str, RenderableType | None]]) -> Table:
    """Names and values, one pair a line; values of None are left out."""
    made = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        if value is not None:
            made.add_row(name, value if not isinstance(value, str) else Text(plain(value)))
    return made


def _cell(value: Cell) -> Text:
    if isinstance(value, Text):
        return value if value.plain.isprintable() else Text(one_line(value.plain, 300), style=value.style)
    return Text("–" if value is None else one_line(value, 300))
