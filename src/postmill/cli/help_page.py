"""The help page of a command, for a terminal of any width: no frame, one column of names, no word broken."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from typing import Any

from rich.text import Text

COMMANDS = "Commands"

ARGUMENTS = "Arguments"

OPTIONS = "Options"

MOST = 26
"""Columns of the names; a longer one has a line of its own."""

NARROW = 50
"""A terminal of fewer columns has each explanation below its name."""

Row = tuple[str, str]


def help_page(command: Any, path: str, shared: str, width: int) -> Iterator[Text]:
    """The lines of the page.

    Args:
        command: as Typer made it, with its parameters or its commands.
        path: how it is called, such as `postmill jobs list`.
        shared: the title of the options of every command; --help stands there, too.
        width: columns of the terminal.
    """
    yield from _wrapped(f"Usage: {usage(command, path)}", width, hang=4, bold="Usage:")
    for paragraph in paragraphs(command.help):
        yield Text()
        yield from _wrapped(paragraph, width)
    sections = _sections(command, shared)
    names = [len(name) for rows in sections.values() for name, _ in rows]
    column = max((length for length in names if length <= MOST), default=0) + 4
    for title, rows in sections.items():
        yield Text()
        yield Text(title, style="bold")
        for name, text in rows:
            yield from _row(name, text, width, column)
    yield from _epilog(command.epilog, width)


def usage(command: Any, path: str) -> str:
    """`postmill enqueue TYPE [NAME=VALUE…] [OPTIONS]`."""
    if getattr(command, "commands", None) is not None:
        return f"{path} [OPTIONS] COMMAND …"
    words = [path]
    for param in command.params:
        if _is_argument(param):
            word = f"{param.metavar}{'…' if param.nargs == -1 else ''}"
            words.append(word if param.required else f"[{word}]")
    return " ".join([*words, "[OPTIONS]"])


def label(param: Any) -> str:
    """`--queues, -q NAME=SLOTS,...`, `--json`, `TYPE`."""
    if _is_argument(param):
        return str(param.metavar)
    takes = "" if param.is_flag else param.metavar or param.name.removesuffix("_").upper()
    return f"{', '.join(param.opts)} {takes}".rstrip()


def paragraphs(text: str | None) -> list[str]:
    """The paragraphs of a docstring, each on one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text or "") if part.strip()]


def _sections(command: Any, shared: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for child in (getattr(command, "commands", None) or {}).values():
        if not child.hidden:
            panel = getattr(child, "rich_help_panel", None) or COMMANDS
            brief = getattr(child, "short_help", None) or next(iter(paragraphs(child.help)), "")
            found.setdefault(panel, []).append((child.name, brief))
    last: list[Row] = []
    for param in command.params:
        if getattr(param, "hidden", False):
            continue
        panel = getattr(param, "rich_help_panel", None)
        rows = last if panel == shared else found.setdefault(panel or _panel(param), [])
        rows.append((label(param), _explained(param)))
    return {**found, shared: [*last, ("--help, -h", "Show this page.")]}


def _panel(param: Any) -> str:
    return ARGUMENTS if _is_argument(param) else OPTIONS


def _is_argument(param: Any) -> bool:
    return not param.opts[0].startswith("-")


def _explained(param: Any) -> str:
    text = " ".join((param.help or "").split())
    default = param.default.value if isinstance(param.default, Enum) else param.default
    silent = default is None or isinstance(default, bool) or default in ((), []) or callable(default)
    return text if silent or param.required or "(default" in text else f"{text} (default: {default})"


def _row(name: str, text: str, width: int, column: int) -> Iterator[Text]:
    shown = Text(f"  {name}", style="cyan")
    indent = 6 if width < NARROW else column
    lines = _broken(text, width - indent)
    if width >= NARROW and len(name) + 4 <= column and lines:
        yield shown.append(" " * (column - len(name) - 2)).append(lines.pop(0), style="default")
    else:
        yield shown
    yield from (Text(" " * indent + line) for line in lines)


def _epilog(text: str | None, width: int) -> Iterator[Text]:
    """Its first line is a title; the others hang by their first word."""
    if not text:
        return
    title, *lines = text.splitlines()
    yield Text()
    yield Text(title, style="bold")
    for line in lines:
        first = re.match(r"\s*\S+\s+", line)
        yield from _wrapped(f"  {line}", width, hang=2 + (first.end() if first else 0))


def _wrapped(text: str, width: int, hang: int = 0, bold: str = "") -> Iterator[Text]:
    indent = len(text) - len(text.lstrip())
    for n, line in enumerate(_broken(text.lstrip(), width - max(indent, hang))):
        shown = Text(" " * (hang if n else indent) + line)
        if bold:
            shown.highlight_words([bold], "bold")
        yield shown


def _broken(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, max(width, 8), break_long_words=False, break_on_hyphens=False, expand_tabs=False
    )
