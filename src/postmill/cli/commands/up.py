"""`postmill up`: its options. Server and engine are imported when they are needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from postmill.cli.builds import Build
from postmill.cli.completion import complete_module
from postmill.cli.run import Run
from postmill.client.address import LEFT_BY_UP


def up(
    run: Run,
    modules: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODULE",
            help="Where the job types are: files or dotted names.",
            autocompletion=complete_module,
        ),
    ] = None,
    data: Annotated[
        Path, typer.Option("--data", metavar="FOLDER", help="Where the database lives; kept when it stops.")
    ] = LEFT_BY_UP.parent,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="HTTP port of console, API, /metrics, /healthz and /readyz "
            "(default: a free one from 8710 to 8909, the same again for the same folder).",
        ),
    ] = None,
    build: Build = None,
) -> None:
    """Start database, worker, console, API and /metrics here, and go on until Ctrl-C. The data is kept.

    The database is a PostgreSQL server of your own in FOLDER; with --dsn no server is started, and that database
    is migrated and used. Other commands and Client() in this folder find it by themselves; programs elsewhere by
    FOLDER/postmill.env. The worker has a process of its own: one that a job killed is started again.
    """
    from postmill.cli.upping import run_up

    run.given = replace(run.given, build=build)
    run_up(run, modules or [], data, port)
