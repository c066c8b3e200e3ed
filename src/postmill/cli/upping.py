"""The parts of `postmill up`, put together: server, schema, worker process, ready line."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group
from rich.text import Text

from postmill.cli.database import described, open_connection
from postmill.cli.family import Family, child_command
from postmill.cli.json_schema import example
from postmill.cli.modules import load_registry
from postmill.cli.ports import choose_port
from postmill.cli.run import Run
from postmill.cli.signals import ended_by_signals
from postmill.cli.tables import pairs
from postmill.cli.working import finish
from postmill.client.address import VARIABLE
from postmill.domain.registry import Registry
from postmill.local.up import LocalDatabase
from postmill.schema.runner import migrate


@dataclass(frozen=True, slots=True)
class Facts:
    """What is told once everything runs."""

    database_url: str
    environment_file: str | None
    http: str
    job_types: list[str]


def run_up(run: Run, modules: Sequence[str], data: Path, port: int | None) -> None:
    """Starts everything, waits for the end, stops everything; ends with the exit code."""
    registry = load_registry(modules) if modules else Registry()
    host = run.settings.metrics.host
    chosen = choose_port(host, run.settings.metrics.port if port is None else port, data)
    with run.out.reserved(), ended_by_signals(), _database(run, data) as (dsn, file):
        shown = described(dsn) if file is None else dsn
        facts = Facts(shown, str(file) if file else None, f"http://{host}:{chosen}", sorted(registry.names))
        family = Family(
            dsn,
            run.schema,
            lambda _, report: _command(run, modules, chosen, report),
            1,
            grace=run.settings.worker.grace,
            told=run.out.note,
            ready=(f"{facts.http}/readyz", lambda: _tell(run, facts, registry)),
        )
        code = family.run()
        # A third Ctrl-C must not leave the server behind: it takes a second to stop.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    finish(run, code, family.summary, child=run.out.as_json)


@contextmanager
def _database(run: Run, data: Path) -> Iterator[tuple[str, Path | None]]:
    """The migrated database: its URL, and the file that has it, where the server is ours."""
    if run.given.dsn:
        with open_connection(run.dsn) as conn:
            migrate(conn, run.schema)
        os.environ[VARIABLE] = run.dsn
        yield run.dsn, None
        return
    with LocalDatabase(data, schema=run.schema, told=run.out.note) as database:
        other = os.environ.get(VARIABLE)
        if other and other != database.dsn:
            run.out.warn(
                f"{VARIABLE} names another database ({described(other)}); other commands here will use that one",
                f"unset {VARIABLE}, or run with --dsn",
            )
        # The worker's process finds it there: a command line is for everybody on the machine to read.
        os.environ[VARIABLE] = database.dsn
        yield database.dsn, database.environment_file


def _command(run: Run, modules: Sequence[str], port: int, report: Path) -> list[str]:
    words = ["worker", *modules] if modules else ["upkeep"]
    return child_command([*words, "--child", "0/1", "--report", str(report), "--port", str(port)], run.given)


def _tell(run: Run, facts: Facts, registry: Registry) -> None:
    if run.out.as_json:
        run.out.document(facts)
        return
    ready = Text.assemble(("ready", "bold green"), "; Ctrl-C drains and stops, the data is kept")
    types = facts.job_types
    first = registry[types[0]] if types else None
    rows = pairs(
        [
            ("job types", ", ".join(types) if types else "none, only upkeep runs: postmill up jobs.py"),
            ("metrics", f"{facts.http}/metrics"),
            ("database", facts.database_url),
            ("for programs elsewhere", facts.environment_file),
            (
                "try, in another terminal",
                example(first.name, first.json_schema()) if first else "postmill init",
            ),
        ]
    )
    run.out.console.print(Group(ready, rows))
