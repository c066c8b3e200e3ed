"""Tables and cells in Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

_CODE = re.compile(r"`([^`]*\|[^`]*)`")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells may hold any text."""
    lines = [head, ["---"] * len(head), *([cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def cell(text: str) -> str:
    """Text for one cell: on one line, and without a bar that would end it.

    In code no escape does that for every reader of Markdown, so such code is written as HTML.
    """
    line = _CODE.sub(
        lambda found: f"<code>{html.escape(found[1], quote=False)}</code>", " ".join(text.split())
    )
    return line.replace("|", "&#124;")


def code(text: object) -> str:
    """Text as code, nothing for nothing."""
    return f"`{text}`" if str(text) else ""
