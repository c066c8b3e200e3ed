"""The command line, from the tree of its commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from postmill.cli.app import SHARED
from postmill.cli.help_page import paragraphs
from postmill.cli.tree import app
from tests.support.reference.markdown import code, table


def commands() -> str:
    """A section for each command."""
    return "\n".join(_section(path, command) for path, command in _walk(typer.main.get_command(app), ()))


def shared() -> str:
    """The options of every command."""
    version = dict(_walk(typer.main.get_command(app), ()))[("version",)]
    return table(("option", "meaning"), (_row(option) for option in version.params if _is_shared(option)))


def _walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
    for name, child in (inner or {}).items():
        yield from _walk(child, (*path, name))


def _section(path: tuple[str, ...], command: Any) -> str:
    name = " ".join(path)
    params = [
        param for param in command.params if not _is_shared(param) and not getattr(param, "hidden", False)
    ]
    words = [_usage(param) for param in params if _is_argument(param)]
    if any(not _is_argument(param) for param in params):
        words.append("[OPTIONS]")
    parts = [
        f"### postmill {name}",
        f"`{' '.join(['postmill', name, *words])}`",
        "\n\n".join(paragraphs(command.help)),
    ]
    if params:
        parts.append(table(("argument or option", "meaning"), map(_row, params)))
    if examples := re.findall(r"(?m)^\$ (.*)", command.epilog or ""):
        parts.append("```sh\n" + "\n".join(examples) + "\n```")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _is_shared(param: Any) -> bool:
    return getattr(param, "rich_help_panel", None) == SHARED


def _is_argument(param: Any) -> bool:
    return not param.opts[0].startswith("-")


def _usage(param: Any) -> str:
    word = f"{param.metavar}{'…' if param.nargs == -1 else ''}"
    return word if param.required else f"[{word}]"


def _row(param: Any) -> tuple[str, str]:
    name = param.metavar if _is_argument(param) else ", ".join(param.opts)
    if not _is_argument(param) and not param.is_flag:
        name += f" {param.metavar or param.name.removesuffix('_').upper()}"
    default = "" if param.default in (None, False, ()) or param.required else f" Default: `{param.default}`."
    return code(name.strip()), " ".join((param.help or "").split()) + default
