"""What a command prints: one JSON document, or tables for people, on stdout; everything else on stderr."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from postmill.cli.errors import Explanation
from postmill.cli.text import plain, prints

PIPED_WIDTH = 200
"""Columns of tables that no terminal limits."""


class Screen(Console):
    """A console whose reader may go away: what that means is decided where the command ends.

    Whatever is printed on it, by whatever command, comes from one place and shows as text: see `cli.text`.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """What does not print is written as an escape."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(plain(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Not the end of the process, as Rich would have it."""
        raise BrokenPipeError


class Output:
    """The two streams of one invocation, looked up when it is made, so that tests can catch them."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        tty = sys.stdout.isatty()
        self.console = Screen(
            file=sys.stdout,
            width=None if tty else PIPED_WIDTH,
            highlight=False,
            markup=False,
            emoji=False,
            soft_wrap=not tty,
        )
        self.side = Screen(
            file=sys.stderr, highlight=False, markup=False, emoji=False, soft_wrap=not sys.stderr.isatty()
        )
        self.short_ids = tty

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """With --json, keep stdout for the document: what handlers and children print goes to stderr meanwhile."""
        if not self.as_json or not _is_descriptor_1(self.console.file):
            yield
            return
        self.console.file.flush()
        kept = os.dup(1)
        os.dup2(2, 1)
        before, self.console.file = self.console.file, os.fdopen(os.dup(kept), "w", encoding="utf-8")
        try:
            yield
        finally:
            self.console.file.close()
            self.console.file = before
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)

    def show(self, data: Any, render: Callable[[], RenderableType]) -> None:
        """`data` as the JSON document, or what `render` makes of it."""
        if self.as_json:
            self.document(data)
        else:
            self.console.print(render())

    def document(self, data: Any) -> None:
        """One JSON document, the only thing on stdout."""
        text = json.dumps(data, default=jsonable, indent=2, ensure_ascii=False)
        self.console.file.write(_readable(text) + "\n")
        self.console.file.flush()

    def say(self, text: str, style: str = "") -> None:
        """A line for people; not printed beside JSON."""
        if not self.as_json:
            self.console.print(Text(plain(text), style=style))

    def copyable(self, text: str, style: str = "") -> None:
        """A line to be copied (an address, an id, a key): the terminal may wrap it, we never break it."""
        if not self.as_json:
            self.console.print(Text(plain(text), style=style), soft_wrap=True)

    def facts(self, rows: Sequence[tuple[str, str]]) -> None:
        """Names and values to be copied: none is broken, and where it does not fit beside its name it stands below."""
        column = max((len(name) for name, _ in rows), default=0) + 2
        for name, value in rows:
            text = plain(value)
            beside = column + cell_len(text) <= self.console.width
            gap = " " * (column - len(name)) if beside else "\n  "
            self.console.print(Text.assemble((name, "dim"), gap, text), soft_wrap=True)

    def note(self, text: str, style: str = "dim") -> None:
        """A remark on stderr."""
        self.side.print(Text(plain(text), style=style))

    def warn(self, text: str, hint: str = "") -> None:
        """A warning on stderr, with what to do."""
        self.side.print(Text.assemble(("warning: ", "yellow"), plain(text)))
        if hint:
            self.side.print(Text(f"  → {plain(hint)}", style="dim"))

    def error(self, told: Explanation) -> None:
        """One clear line and what to do on stderr; with --json the same as the document."""
        self.side.print(Text.assemble(("error: ", "bold red"), plain(told.message)))
        if told.hint:
            self.side.print(Text(f"  → {plain(told.hint)}", style="dim"))
        if self.as_json:
            error = {
                "code": int(told.code),
                "kind": told.kind,
                "message": told.message,
                "hint": told.hint or None,
            }
            self.document({"error": error})


def _readable(document: str) -> str:
    """JSON in which strings have no character that does not print: such are written `\\u009b`."""
    if document.replace("\n", "").isprintable():
        return document
    return "".join(one if prints(one) else json.dumps(one)[1:-1] for one in document)


def _is_descriptor_1(stream: IO[str]) -> bool:
    try:
        return stream.fileno() == 1
    except (OSError, ValueError):
        return False


def jsonable(value: object) -> Any:
    """What `json` does not know by itself, as JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, UUID | Path):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset | tuple):
        return sorted(value, key=str) if isinstance(value, set | frozenset) else list(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)
