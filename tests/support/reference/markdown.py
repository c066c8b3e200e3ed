"""Tables and cells in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells may hold any text."""
    lines = [head, ["---"] * len(head), *([cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def cell(text: str) -> str:
    """Text for one cell: on one line, and without a bar that would end it."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: object) -> str:
    """Text as code, nothing for nothing."""
    return f"`{text}`" if str(text) else ""
