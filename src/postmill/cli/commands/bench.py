"""`postmill bench CASE`: measures, beside its own limit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from postmill.cli.errors import CliError
from postmill.cli.run import Run
from postmill.cli.tables import pairs, table
from postmill.domain.suggest import did_you_mean

if TYPE_CHECKING:
    from postmill.bench import Case

SYNTAX = "write --NAME VALUE, as in: postmill bench throughput --jobs 300000"


def complete_case(incomplete: str) -> list[str]:
    """Names of the cases."""
    from postmill.bench import CASES

    return [case for case in CASES if case.startswith(incomplete)]


def bench(
    run: Run,
    case: Annotated[
        str | None,
        typer.Argument(
            metavar="CASE",
            help="What to measure; without one all cases and their options are shown.",
            autocompletion=complete_case,
        ),
    ] = None,
    options: Annotated[
        list[str] | None, typer.Argument(metavar="--NAME VALUE", help="Options of the case.")
    ] = None,
) -> None:
    """Measure one case, beside the same SQL driven bare. Starts a server of its own unless --dsn names one.

    With --dsn, schemas are made in that database and dropped again.
    """
    from postmill.bench import CASES
    from postmill.bench import run as run_case

    if case is None:
        _show_cases(run, list(CASES.values()))
        return
    given = parse_options(options or [])
    _check(case, given)
    found = run_case(case, run.given.dsn, given, lambda text: _tell(run, text))
    run.out.show(found, lambda: pairs((name, shown(value)) for name, value in found.items()))


def _check(case: str, given: dict[str, Any]) -> None:
    """Raises CliError (usage) for a case or an option that there is not, before a server is started."""
    from postmill.bench import CASES, BenchError

    known = CASES.get(case)
    if known is None:
        raise CliError(
            f"there is no case {case!r}{did_you_mean(case, CASES, noun='cases')}", "see: postmill bench"
        )
    try:
        known.read(given)
    except BenchError as fault:
        raise CliError(str(fault), "see: postmill bench") from None


def _tell(run: Run, text: str) -> None:
    """How it goes, where somebody looks on; a warning goes with the figures, wherever they go."""
    if run.out.side.is_terminal or text.startswith("warning: "):
        run.out.note(text)


def parse_options(words: Sequence[str]) -> dict[str, Any]:
    """`--jobs 300`, `--jobs=300` and `jobs=300` as a mapping of text; the case reads it. Raises CliError."""
    made: dict[str, Any] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, mark, value = word.removeprefix("--").partition("=")
        if not mark:
            if not word.startswith("--") or not rest:
                raise CliError(f"cannot read the option {word!r}", SYNTAX)
            value = rest.pop(0)
        made[name.replace("-", "_")] = value
    return made


def shown(value: Any) -> str:
    """A figure for people."""
    if isinstance(value, float):
        return f"{value:,.3f}" if abs(value) < 100 else f"{value:,.0f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _show_cases(run: Run, cases: Sequence[Case]) -> None:
    data = [
        {
            "case": case.name,
            "description": case.description,
            "options": [
                {
                    "name": option.name,
                    "default": option.default,
                    "help": option.help,
                    "choices": option.choices,
                }
                for option in case.options
            ],
        }
        for case in cases
    ]
    rows = [
        (case.name if n == 0 else "", f"--{option.name}", str(option.default), option.help)
        for case in cases
        for n, option in enumerate(case.options)
    ]
    run.out.show(data, lambda: table(("case", "option", "default", "meaning"), rows))
