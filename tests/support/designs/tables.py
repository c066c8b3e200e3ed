"""The tables of the examples' READMEs: which line of the design is where, and which test proves it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"

SAME = "the same"

_SPAN = re.compile(r"`([^`]+)`")
_SECTION = re.compile(r"\*\*(.+?)\*\*")


@dataclass(frozen=True, slots=True)
class Line:
    """A row: its example, the sections of the design that it is about, and its three cells.

    A section stands in bold in the first cell; the rows below are of the same, until the next.
    """

    example: str
    sections: tuple[str, ...]
    what: str
    where: str
    test: str

    def __str__(self) -> str:
        return f"{self.example}: {self.what}"


def examples() -> list[str]:
    """Those that have a README."""
    return sorted(path.parent.name for path in EXAMPLES.glob("*/README.md"))


@cache
def lines(example: str) -> tuple[Line, ...]:
    """The rows of all tables of an example's README that name tests. `the same` is the cell above."""
    made: list[Line] = []
    for what, where, test in _rows(example):
        sections = tuple(_SECTION.findall(what)) or (made[-1].sections if made else ())
        above = (made[-1].where, made[-1].test) if made else ("", "")
        made.append(Line(example, sections, what, _whole(where, above[0]), _whole(test, above[1])))
    return tuple(made)


def _whole(cell: str, above: str) -> str:
    return f"{above}{cell.removeprefix(SAME)}" if cell.startswith(SAME) else cell


def spans(cell: str) -> list[str]:
    """What is set as code in a cell."""
    return _SPAN.findall(cell)


def _rows(example: str) -> Iterator[tuple[str, str, str]]:
    inside = False
    for line in (EXAMPLES / example / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]] if line.startswith("|") else []
        if not cells:
            inside = False
        elif cells[-1] == "test":
            inside = True
        elif inside and not set(cells[0]) <= set("-: "):
            assert len(cells) == 3, f"{example}: a row of {len(cells)} cells: {line}"
            yield cells[0], cells[1], cells[2]
