"""What the shell offers after TAB: names out of the database, modules out of the folder. Never an error."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import psycopg
import typer

from postmill.cli.run import Given, Run

PATIENCE = "2"
"""Seconds for the database; after that the shell offers nothing."""


def complete_job_type(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names and aliases of active job types."""
    from postmill.store.registration import job_type_names

    return _from_database(ctx, incomplete, lambda schema: job_type_names(schema=schema))


def complete_queue(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of queues."""
    from postmill.store.queues import queue_names

    return _from_database(ctx, incomplete, lambda schema: queue_names(schema=schema))


def complete_queues(ctx: typer.Context, incomplete: str) -> list[str]:
    """The last name in `high=20,def…`."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in complete_queue(ctx, last)]


def complete_argument(ctx: typer.Context, incomplete: str) -> list[str]:
    """`name=` of the arguments that the chosen job type takes."""
    from postmill.cli import json_schema
    from postmill.cli.lookups import job_type_shape

    job_type = ctx.params.get("job_type")
    if not job_type or "=" in incomplete:
        return []
    try:
        run = _run(ctx)
        with _connection(run) as conn:
            schema = job_type_shape(conn, run.schema, str(job_type)).schema
    except Exception:
        return []
    names = [
        name + ("=" if json_schema.types_of(part, schema) - {"object", "array"} else ":=")
        for name, part in json_schema.properties(schema).items()
    ]
    return _beginning(names, incomplete)


def complete_module(incomplete: str) -> list[str]:
    """Python files and packages of the current folder."""
    here = Path(incomplete).parent if os.sep in incomplete else Path()
    try:
        entries = sorted(here.iterdir())
    except OSError:
        return []
    names = [str(entry) for entry in entries if entry.suffix == ".py"]
    names += [f"{entry}{os.sep}" for entry in entries if entry.is_dir() and (entry / "__init__.py").exists()]
    return _beginning(names, incomplete)


def _from_database(ctx: typer.Context, incomplete: str, statement: Callable[[str], Any]) -> list[str]:
    from postmill.bind import run as run_statement

    try:
        run = _run(ctx)
        with _connection(run) as conn:
            return _beginning(run_statement(conn, statement(run.schema)), incomplete)
    except Exception:
        # An error here would be printed into the middle of the command that is being typed.
        return []


def _run(ctx: typer.Context) -> Run:
    given = Given()
    for level in (ctx.find_root(), ctx):
        named = {key.removeprefix("shared_"): value for key, value in level.params.items()}
        given = given.overridden_by(
            Given(config=named.get("config"), dsn=named.get("dsn"), schema=named.get("schema"))
        )
    return Run(given)


def _connection(run: Run) -> psycopg.Connection[Any]:
    from postmill import connections
    from postmill.cli.database import normalized

    return connections.connect(normalized(run.dsn, patience=PATIENCE), "postmill cli")


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
