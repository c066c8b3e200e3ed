"""Every command of the tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from postmill.cli.tree import app

Path = tuple[str, ...]


def tree() -> list[tuple[Path, Any]]:
    """Commands and groups of commands, by the words that call them."""

    def walk(command: Any, path: Path) -> Iterator[tuple[Path, Any]]:
        yield path, command
        for name, child in (getattr(command, "commands", None) or {}).items():
            yield from walk(child, (*path, name))

    return list(walk(typer.main.get_command(app), ()))


def commands() -> list[Path]:
    """The words of every command that does something."""
    return [path for path, command in tree() if getattr(command, "commands", None) is None]
