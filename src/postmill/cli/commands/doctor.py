"""`postmill doctor`: is everything well, and what to do if not?"""

from __future__ import annotations

from typing import Annotated, Any

import psycopg
import typer
from rich.text import Text

from postmill.cli.database import open_connection
from postmill.cli.exits import ExitCode
from postmill.cli.run import Run
from postmill.cli.text import plain
from postmill.operate.doctor.examine import findings_of
from postmill.operate.doctor.finding import Finding, Level, worst
from postmill.operate.doctor.probe import Probe

MARKS = {Level.OK: ("ok  ", "green"), Level.WARN: ("warn", "yellow"), Level.FAIL: ("fail", "bold red")}


def doctor(
    run: Run,
    strict: Annotated[bool, typer.Option("--strict", metavar="", help="Exit 1 on a warning, too.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="CHECK", help="Only this check, such as workers; may be repeated."),
    ] = None,
) -> None:
    """Look at server, schema, workers and jobs: each line ok, warn or fail, and what to do.

    For a probe: --only what it is about, and --strict. Exit 0 without a failure, 1 with one, 3 if the database cannot be
    reached, 4 if the schema is missing or old. Reads only; safe to run at any time.
    """
    findings: list[Finding] = []
    with run.connect(ready=False) as conn:
        for finding in findings_of(_probe(run, conn), only or ()):
            findings.append(finding)
            if not run.out.as_json:
                run.out.console.print(line(finding))
    level = worst(findings)
    if run.out.as_json:
        run.out.document({"level": level, "checks": findings})
    else:
        count = sum(finding.level is not Level.OK for finding in findings)
        word = (
            "all well"
            if not count
            else f"{count} of {len(findings)} checks {'want' if count > 1 else 'wants'} a look"
        )
        run.out.say(f"\n{word}", style=MARKS[level][1])
    raise typer.Exit(_code(findings, level, strict))


def line(finding: Finding) -> Text:
    """One finding as a line, its advice below it."""
    mark, style = MARKS[finding.level]
    text = Text.assemble((mark, style), "  ", (f"{finding.check:<12}", "bold"), " ", plain(finding.summary))
    if finding.advice:
        text.append(f"\n{'':19}→ {plain(finding.advice)}", style="dim")
    return text


def _probe(run: Run, conn: psycopg.Connection[Any]) -> Probe:
    settings = run.settings
    return Probe(
        conn,
        run.schema,
        another=lambda: open_connection(run.dsn),
        listen=None
        if settings.listen_url is None
        else lambda: open_connection(settings.listen_dsn or run.dsn),
        prepared=settings.prepared_statements,
        notify=settings.notify,
        lease=settings.worker.lease,
        cells=settings.cells,
    )


def _code(findings: list[Finding], level: Level, strict: bool) -> ExitCode:
    if any(finding.check == "migrations" and finding.level is Level.FAIL for finding in findings):
        return ExitCode.SCHEMA
    if level is Level.FAIL or (strict and level is Level.WARN):
        return ExitCode.FAILED
    return ExitCode.OK
