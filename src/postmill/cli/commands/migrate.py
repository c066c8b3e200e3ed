"""`postmill migrate`: bring the schema up to date, print what would be done, or only look."""

from __future__ import annotations

from typing import Annotated

import typer

from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.progress import counting
from postmill.cli.run import Run
from postmill.cli.securing import warn_if_unsecured
from postmill.schema.check import check
from postmill.schema.migration import Migration
from postmill.schema.runner import migrate, render_sql


def migrate_schema(
    run: Run,
    as_sql: Annotated[
        bool,
        typer.Option(
            "--sql",
            metavar="",
            help="Print the script for psql instead: what is pending, or all without a database.",
        ),
    ] = False,
    only_check: Annotated[
        bool, typer.Option("--check", metavar="", help="Only look: exit 0 if up to date, 4 if not.")
    ] = False,
    only_safe: Annotated[
        bool,
        typer.Option(
            "--only-safe",
            metavar="",
            help="Do nothing, and exit 4, if one of those that are pending is breaking; for deployments.",
        ),
    ] = False,
) -> None:
    """Make or update the schema. Safe to run at any time, by any number of processes at once.

    Migrations are forward only; each is marked safe (old workers may run on) or breaking (they may not). Work goes on
    meanwhile: a migration that cannot have a table within two seconds steps back, and tries again for ten minutes.
    """
    if as_sql + only_check + only_safe > 1:
        raise CliError("--sql, --check and --only-safe exclude each other")
    if as_sql:
        _print_script(run)
    elif only_check:
        _look(run)
    else:
        _migrate(run, only_safe)


def _migrate(run: Run, only_safe: bool) -> None:
    with run.connect(ready=False) as conn:
        pending = len(check(conn, run.schema).pending)
        with counting(run.out, "migrating", pending) as next_:
            done = migrate(
                conn,
                run.schema,
                only_safe=only_safe,
                told=lambda step: next_(1, step.name),
                waiting=run.out.note,
            )
        version = check(conn, run.schema).version
        warn_if_unsecured(run, conn)
    if run.out.as_json:
        run.out.document(
            {"schema": run.schema, "version": version, "applied": [_told(step) for step in done]}
        )
        return
    for step in done:
        run.out.say(f"applied {step.version:04} {step.name} ({_mark(step)})")
    if done:
        run.out.say(f"schema {run.schema} is at version {version}", style="green")
    else:
        run.out.say(f"schema {run.schema} is up to date, at version {version}", style="green")


def _look(run: Run) -> None:
    with run.connect(ready=False) as conn:
        status = check(conn, run.schema)
    status.refuse_foreign()
    data = {
        "schema": run.schema,
        "version": status.version,
        "pending": [_told(step) for step in status.pending],
        "newer": [row.name for row in status.unknown],
    }
    if run.out.as_json:
        run.out.document(data)
    elif not status.pending:
        run.out.say(f"schema {run.schema} is up to date, at version {status.version}", style="green")
    else:
        state = f"is at version {status.version}" if status.applied else "is not there yet"
        run.out.say(f"schema {run.schema} {state}; {len(status.pending)} pending:", style="yellow")
        for step in status.pending:
            run.out.say(f"  {step.version:04} {step.name} ({_mark(step)})")
        run.out.say("run: postmill migrate")
    if status.pending:
        raise typer.Exit(ExitCode.SCHEMA)


def _print_script(run: Run) -> None:
    pending = None
    if run.has_database:
        with run.connect(ready=False) as conn:
            pending = check(conn, run.schema).pending
    script = render_sql(run.schema, pending) if pending is None or pending else ""
    if run.out.as_json:
        run.out.document({"schema": run.schema, "sql": script})
    elif script:
        typer.echo(script)
    else:
        typer.echo(f"-- schema {run.schema} is up to date")


def _told(step: Migration) -> dict[str, object]:
    return {"version": step.version, "name": step.name, "mark": _mark(step)}


def _mark(step: Migration) -> str:
    return "breaking" if step.breaking else "safe"
