"""`postmill worker MODULE…` and `postmill upkeep`: their options. The engine is imported when it is needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from postmill.cli.builds import Build
from postmill.cli.completion import complete_module, complete_queues
from postmill.cli.run import Run

Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=0,
        max=65535,
        help="Port of /metrics, /healthz and /readyz; further processes take the next ones.",
    ),
]
Child = Annotated[str | None, typer.Option("--child", hidden=True, metavar="INDEX/COUNT")]
Report = Annotated[Path | None, typer.Option("--report", hidden=True, metavar="FILE")]


def worker(
    run: Run,
    modules: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODULE",
            help="Where the job types are: files or dotted names. None: stored commands only.",
            autocompletion=complete_module,
        ),
    ] = None,
    queues: Annotated[
        list[str] | None,
        typer.Option(
            "--queues",
            "-q",
            metavar="NAME=SLOTS,...",
            help="Queues to serve, and how many jobs of each at once (default: all of the modules and of stored commands).",
            autocompletion=complete_queues,
        ),
    ] = None,
    processes: Annotated[
        int | None, typer.Option("--processes", "-p", min=1, max=256, help="Processes that share the slots.")
    ] = None,
    cells: Annotated[
        list[str] | None,
        typer.Option(
            "--cells",
            metavar="NAME,...",
            help="Cells to serve; each gets its part of the slots, by processes of its own (default: one database).",
        ),
    ] = None,
    port: Port = None,
    build: Build = None,
    child: Child = None,
    report: Report = None,
    quiet_start: Annotated[bool, typer.Option("--quiet-start", hidden=True)] = False,
) -> None:
    """Run jobs until SIGTERM or Ctrl-C: then finish what runs, give back what waits, and exit with 0.

    Besides the job types of the modules it runs the stored commands (postmill definitions) of its queues.

    A second signal ends it at once (running jobs are given back without using up an attempt). The database may
    come later than the worker; it must have the schema (postmill migrate). Workers do the upkeep, too.
    """
    from postmill.cli.working import run_worker

    run.given = replace(run.given, build=build)
    run_worker(
        run,
        modules or [],
        queues or [],
        processes,
        port,
        child=child,
        report=report,
        quiet_start=quiet_start,
        cells=cells or [],
    )


def upkeep(run: Run, port: Port = None, child: Child = None, report: Report = None) -> None:
    """Do the upkeep only: promote due jobs, rescue those of dead workers, prune, make partitions, measure.

    Workers do all of this by themselves; run it where no worker lives, or beside workers in other languages.
    """
    from postmill.cli.working import run_upkeep

    run_upkeep(run, port, child=child, report=report)
