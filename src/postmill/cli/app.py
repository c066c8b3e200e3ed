"""Typer's commands with our own words: one form for every error, help pages that fit, a closed stdout."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from postmill.cli.errors import CliError, Explanation
from postmill.cli.exits import ExitCode
from postmill.cli.help_page import help_page
from postmill.cli.output import Output, Screen
from postmill.cli.text import one_line
from postmill.domain.suggest import did_you_mean

SHARED = "Options of every command"

UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""The class of all that the parser refuses. Typer exports only this one child of it."""


class Command(TyperCommand):
    """One command. What is behind it is imported when it is called, or asked for its parameters or its help."""

    _LATER = ("params", "callback", "help")

    def __init__(self, later: Callable[[], TyperCommand], **known: Any) -> None:
        super().__init__(**known)
        self._later = later
        for name in self._LATER:
            delattr(self, name)

    def __getattr__(self, name: str) -> Any:
        """What `later` has of these. Raises AttributeError for any other name."""
        if name not in self._LATER:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}", name=name, obj=self)
        found = self._later()
        for one in self._LATER:
            setattr(self, one, getattr(found, one))
        return getattr(self, name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the page."""
        _print_page(self, ctx)


class Group(TyperGroup):
    """A command of commands."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the page."""
        _print_page(self, ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first word names. Raises CliError, which says what was probably meant."""
        name = args[0]
        if not ctx.resilient_parsing and not name.startswith("-") and self.get_command(ctx, name) is None:
            path = ctx.command_path
            meant = did_you_mean(name, self.commands, noun="commands")
            raise CliError(f"there is no command `{path} {one_line(name, 60)}`{meant}", f"see: {path} --help")
        return super().resolve_command(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line, and end the process with its exit code."""
        words = sys.argv[1:] if args is None else list(args)
        try:
            with _as_bash_asks(prog_name or self.name or ""):
                code = super().main(words, prog_name, complete_var, standalone_mode=False, **extra)
        except CliError as fault:
            code = _told(fault.explained(), as_json="--json" in words)
        except UsageError as fault:
            from postmill.cli.usage import explain_usage  # with pydantic

            code = _told(explain_usage(fault), as_json="--json" in words)
        except typer.Abort:
            code = _told(Explanation(ExitCode.FAILED, "Aborted", "not confirmed, so nothing was done"))
        except BrokenPipeError:
            code = ExitCode.OK
        _flush()
        sys.exit(code if isinstance(code, int) else ExitCode.OK)


def _as_bash_asks(program: str) -> AbstractContextManager[None]:
    if os.environ.get(f"_{program.upper()}_COMPLETE") != "complete_bash":
        return nullcontext()
    from postmill.cli.bash_words import whole_words

    return whole_words()


def _print_page(command: Any, ctx: Any) -> None:
    console = Screen(file=sys.stdout, highlight=False)
    for line in help_page(command, ctx.command_path, SHARED, console.width):
        console.print(line, soft_wrap=True)


def _told(told: Explanation, *, as_json: bool = False) -> ExitCode:
    # A usage error that only shows the page has nothing more to say.
    if told.message:
        Output(as_json=as_json).error(told)
    return told.code


def _flush() -> None:
    """What is still in the buffer goes out now; a reader that has gone (`| head`) is no error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
