"""Options that every command has, before or after its name: --config, --dsn, --schema, --json, --debug, --cell."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperCommand

from postmill.cli.app import SHARED as PANEL
from postmill.cli.app import Command, Group
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.given import Given
from postmill.cli.text import is_utf8
from postmill.domain.errors import SettingsError

if TYPE_CHECKING:
    from postmill.cli.run import Run

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Settings file (default: postmill.toml or .yaml here).",
        rich_help_panel=PANEL,
    ),
]
Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        metavar="URL",
        help="Database (default: settings, environment, ./.postmill).",
        rich_help_panel=PANEL,
    ),
]
Schema = Annotated[
    str | None,
    typer.Option(
        "--schema", metavar="NAME", help="Schema in the database (default: postmill).", rich_help_panel=PANEL
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", metavar="", help="One JSON document on stdout, nothing else there.", rich_help_panel=PANEL
    ),
]
Version = Annotated[bool, typer.Option("--version", metavar="", help="The same as: postmill version.")]
Debug = Annotated[bool, typer.Option("--debug", metavar="", help="Show tracebacks.", rich_help_panel=PANEL)]

Cell = Annotated[
    str | None,
    typer.Option(
        "--cell",
        metavar="NAME",
        help="The cell to work on, where the settings have several (default: the directory's).",
        rich_help_panel=PANEL,
    ),
]

SHARED: dict[str, tuple[Any, Any]] = {
    "shared_config": (Config, None),
    "shared_dsn": (Dsn, None),
    "shared_schema": (Schema, None),
    "shared_json": (Json, False),
    "shared_debug": (Debug, False),
    "shared_cell": (Cell, None),
}

Handler = Callable[..., None]


def command(
    app: typer.Typer,
    name: str,
    *,
    brief: str | None = None,
    panel: str | None = None,
    examples: Sequence[str] = (),
    passes_options: bool = False,
) -> Callable[[str], None]:
    """Makes a handler a command of `app`, listed under `panel`, with `examples` below its help.

    The handler is named, as in `jobs.list_`, and imported from `postmill.cli.commands` when it is wanted: so a command
    costs only what it needs itself. Its first parameter is the `Run`, the others are Typer's as usual; its docstring is the
    help. `brief` is the first line of that, for a page that lists the command and need not import it. With
    `passes_options` options that it does not know are arguments. Whatever the handler raises ends as one line and an exit
    code.
    """

    def register(handler: str) -> None:
        app.command(
            name,
            cls=partial(Command, partial(_made, handler)),  # type: ignore[arg-type]
            short_help=brief,
            epilog=example_text(examples),
            rich_help_panel=panel,
            context_settings={"ignore_unknown_options": passes_options},
        )(_nothing)

    return register


def _nothing() -> None:
    """Until the handler is imported."""


def _made(name: str) -> TyperCommand:
    """The handler of this name, as Typer sees it."""
    module, _, function = name.rpartition(".")
    handler: Handler = getattr(import_module(f"postmill.cli.commands.{module}"), function)
    alone = typer.Typer(add_completion=False)
    alone.command(help=inspect.getdoc(handler) or "")(_with_shared(handler))
    return cast(TyperCommand, typer.main.get_command(alone))


def _with_shared(handler: Handler) -> Callable[..., None]:
    """The handler with the options of every command."""
    own = list(inspect.signature(handler, eval_str=True).parameters.values())[1:]

    def invoke(**given: Any) -> None:
        from postmill.cli.run import Run

        context: typer.Context = given.pop("context")
        shared = Given(**{key.removeprefix("shared_"): given.pop(key) for key in SHARED})
        earlier = context.obj if isinstance(context.obj, Given) else Given()
        guarded(Run(earlier.overridden_by(shared)), handler, given)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("context", keyword, annotation=typer.Context),
        *(parameter.replace(kind=keyword) for parameter in own),
        *(
            inspect.Parameter(key, keyword, default=default, annotation=annotation)
            for key, (annotation, default) in SHARED.items()
        ),
    ]
    invoke.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    invoke.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    invoke.__name__ = handler.__name__
    return invoke


def guarded(run: Run, handler: Handler, given: dict[str, Any]) -> None:
    """Runs the handler; an error becomes one clear line, what to do, and an exit code."""
    try:
        _readable([*given.values(), run.given.dsn, run.given.schema, run.given.cell])
        if run.given.dsn is not None and not run.given.dsn.strip():
            raise CliError("--dsn is empty", "is the variable set that it comes from?")
        if run.given.dsn and run.given.cell:
            raise CliError("--dsn and --cell exclude each other", "a cell's database is in the settings")
        handler(run, **given)
    except typer.Exit as end:
        if end.exit_code == ExitCode.NOT_FOUND and (there := _elsewhere(run, given)):
            run.out.note(there)
        raise
    except (typer.Abort, typer.BadParameter):
        raise
    except BrokenPipeError:
        # The reader of our output (head, less) has seen enough.
        raise typer.Exit(0) from None
    except (Exception, KeyboardInterrupt) as error:
        if run.given.debug and not isinstance(error, KeyboardInterrupt):
            raise
        from postmill.cli.explaining import explain

        told = explain(error)
        if told.code == ExitCode.NOT_FOUND and (there := _elsewhere(run, given)):
            told = replace(told, hint=there)
        run.out.error(told)
        raise typer.Exit(int(told.code)) from None


def _elsewhere(run: Run, given: dict[str, Any]) -> str | None:
    """Of what was not found: in which cell it is."""
    with suppress(SettingsError):
        if len(run.settings.cells) > 1:
            from postmill.cli.elsewhere import elsewhere

            return elsewhere(run, given)
    return None


def example_text(examples: Sequence[str]) -> str | None:
    """Examples as the epilog of a help page, one a line."""
    return "\n".join(["Examples", *(f"$ {line}" for line in examples)]) if examples else None


def group(text: str) -> typer.Typer:
    """A command of commands; `text` is its help."""
    return typer.Typer(cls=Group, help=text, no_args_is_help=True)


def one_of(kinds: Iterable[object]) -> str:
    """The values of an option as its help names them."""
    return ", ".join(str(getattr(kind, "value", kind)) for kind in kinds)


def _readable(values: Iterable[object]) -> None:
    """Raises CliError for text that is not UTF-8: neither JSON nor the database could hold it. Paths may be anything."""
    for value in values:
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and not is_utf8(text):
                raise CliError(
                    f"expected text in UTF-8, got {os.fsencode(text)[:80]!r}",
                    "check the encoding of this terminal",
                )
