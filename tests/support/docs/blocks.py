"""The code blocks of a Markdown page, in order, also those that only the tests see."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)(?: title=\"(?P<title>[^\"]*)\")?[^\n]*\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
_DATABASE = re.compile(r"^<!-- database: (\w+) -->$", re.MULTILINE)

RUN = frozenset({"python", "pycon", "sql", "console", "toml", "json"})
"""Languages whose blocks are run."""

TEXT = frozenset({"text", "py", "sh", "ini", "yaml", "javascript"})
"""Languages whose blocks are not run: output of the block above, signatures, and what belongs on other machines."""

FOLLOWED_ELSEWHERE = {
    "docs/how-to/adopt-with-an-existing-outbox.md": "examples/enrichment/tests/test_adopt_howto.py",
    "docs/how-to/feeds-in-trouble.md": "examples/homepage/tests/test_troubleshooting.py",
    "docs/explanation/performance.md": "the benchmarks",
    "docs/assets/peers.md": "the benchmarks",
}
"""Pages whose blocks have tests of their own."""


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language, the file that its title names, its text and the line of its first line.

    `below`: nothing stands between it and the block before, whose output it may be. A setup block stands in a
    comment `<!-- setup … -->`: it is run, and no reader sees it.
    """

    language: str
    title: str | None
    text: str
    line: int
    below: bool


def blocks_of(page: Path) -> list[Block]:
    """Every fenced block of a page.

    Raises:
        ValueError: a fence without a language, or with one that nobody knows how to treat.
    """
    text = page.read_text(encoding="utf-8")
    made, end = [], 0
    for found in _FENCE.finditer(text):
        indent = found["indent"]
        lines = [line.removeprefix(indent) for line in found["text"].splitlines()]
        number = text.count("\n", 0, found.start()) + 2
        below = not text[end : found.start()].strip()
        made.append(Block(found["language"], found["title"], "\n".join(lines) + "\n", number, below))
        end = found.end()
    fences = len(re.findall(r"^ *```", text, re.MULTILINE))
    if fences != 2 * len(made):
        raise ValueError(f"{page.name}: a code block has no language, or no end")
    unknown = {block.language for block in made} - RUN - TEXT
    if unknown:
        raise ValueError(
            f"{page.name}: blocks in {', '.join(sorted(unknown))} are neither run nor left alone"
        )
    return made


def database_of(page: Path) -> str:
    """Which database the page wants: `migrated` (the default), `empty`, or `none` where it starts its own."""
    found = _DATABASE.search(page.read_text(encoding="utf-8"))
    return found[1] if found else "migrated"
