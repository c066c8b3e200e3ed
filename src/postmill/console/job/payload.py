"""JSON as people read it: indented, without secrets, each number as it was sent, as far as it is wanted."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from postmill.console.job.texts import visible
from postmill.domain.redaction import REDACTED, hidden, redacted_text

DEEPEST = 300
_EDGE = 2_000
"""Characters of a long text that are looked at beyond what is shown: a secret across the edge is seen whole."""


class Number(str):
    """A number in the digits in which it came: no float holds 2^53 + 1, and none tells 1.10 from 1.1."""


def parsed(text: str) -> Any:
    """JSON with its numbers as they stand. Raises RecursionError where it is nested too deeply."""
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number)


@dataclass(slots=True)
class _Paper:
    """What was written so far, and how much of it is wanted (None: all)."""

    names: Collection[str]
    most: int | None
    pieces: list[str] = field(default_factory=list)
    length: int = 0

    @property
    def full(self) -> bool:
        return self.most is not None and self.length > self.most

    def put(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)


def printed(value: Any, names: Collection[str] = (), most: int | None = None) -> str:
    """What `parsed` gave, indented. Somewhat more than `most` characters, where there is more.

    Args:
        names: further names of secrets, as the definition has them.
    """
    paper = _Paper(names, most)
    _write(paper, value, 0)
    return "".join(paper.pieces)


def _write(paper: _Paper, value: Any, depth: int) -> None:
    if isinstance(value, dict) and value and depth < DEEPEST:
        _all(paper, "{", value.items(), "}", depth)
    elif isinstance(value, list) and value and depth < DEEPEST:
        _all(paper, "[", value, "]", depth)
    elif isinstance(value, dict | list) and value:
        paper.put("…")
    elif isinstance(value, Number):
        paper.put(value)
    elif isinstance(value, str):
        paper.put(_text(value, paper.most))
    else:
        paper.put(json.dumps(value))


def _all(paper: _Paper, opening: str, items: Any, closing: str, depth: int) -> None:
    inner = "  " * (depth + 1)
    paper.put(opening)
    for n, item in enumerate(items):
        if paper.full:
            return
        paper.put(f"{',' if n else ''}\n{inner}")
        if opening == "[":
            _write(paper, item, depth + 1)
            continue
        key, value = item
        paper.put(f"{_text(key, paper.most)}: ")
        if hidden(key, value, paper.names):
            paper.put(json.dumps(REDACTED))
        else:
            _write(paper, value, depth + 1)
    paper.put(f"\n{'  ' * depth}{closing}")


def _text(value: str, most: int | None) -> str:
    if most is not None and len(value) > most + _EDGE:
        value = value[: most + _EDGE]
    return visible(json.dumps(redacted_text(value), ensure_ascii=False))
