"""The parts of `postmill up`, put together: server, schema, worker process, ready line."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from rich.text import Text

from postmill.bind import run as statement
from postmill.cli.address import ADDRESS, address, is_loopback, link
from postmill.cli.database import described, open_connection
from postmill.cli.errors import CliError
from postmill.cli.family import Family, child_command
from postmill.cli.modules import load_registry, python_files, what_to_give
from postmill.cli.ports import choose_port
from postmill.cli.run import Run
from postmill.cli.sample import sample_line
from postmill.cli.signals import ended_by_signals
from postmill.cli.who import who
from postmill.cli.working import finish
from postmill.client.address import STORE_VARIABLE, VARIABLE
from postmill.domain.access import Role
from postmill.domain.registry import Registry
from postmill.local.up import LocalDatabase
from postmill.operate.keys import create_link
from postmill.schema.runner import migrate
from postmill.store.access import entrances

LOOPBACK = "127.0.0.1"

ARTIFACTS = "artifacts"
"""Folder in the data folder where artifacts are, if the settings name no store."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is told once everything runs. `login` opens one login of the console; None: there is no API here."""

    database_url: str
    environment_file: str | None
    http: str
    login: str | None
    job_types: list[str]


def run_up(run: Run, modules: Sequence[str], data: Path, port: int | None) -> None:
    """Starts everything, waits for the end, stops everything; ends with the exit code."""
    registry = load_registry(modules) if modules else Registry()
    if not modules:
        run.out.warn("no MODULE is given: jobs of your own functions do not run", _what_to_run())
    server = run.settings.server
    wanted = server.port if port is None and "port" in server.model_fields_set else port
    chosen = choose_port(server.host, wanted, data)
    http = address(server.host, chosen)
    with run.out.reserved(), ended_by_signals(), _database(run, data, http) as (dsn, file):
        served = _served(run, dsn)
        shown = described(dsn) if file is None else dsn
        facts = Facts(
            shown,
            str(file) if file else None,
            http,
            _link(run, dsn, http) if served else None,
            sorted(registry.names),
        )
        inner = choose_port(LOOPBACK, 0, data) if served else chosen
        commands = [lambda report: _worker(run, modules, inner, report)]
        if served:
            commands.append(lambda report: _server(run, chosen, inner))
        # What the children are to do differently from what is set: it has one port, and the worker is behind it.
        os.environ["POSTMILL_METRICS__HOST"] = LOOPBACK if served else server.host
        if is_loopback(server.host) and "open_metrics" not in server.model_fields_set:
            os.environ["POSTMILL_SERVER__OPEN_METRICS"] = "true"
        family = Family(
            dsn,
            run.schema,
            lambda index, report: commands[index](report),
            len(commands),
            grace=run.settings.worker.grace,
            told=run.out.note,
            ready=(f"{http}/readyz", lambda: _tell(run, facts, registry)),
        )
        code = family.run()
        # A third Ctrl-C must not leave the server behind: it takes a second to stop.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    finish(run, code, family.summary, child=run.out.as_json)


def _what_to_run() -> str:
    files = python_files()
    named = next((name for name in files if name == "jobs.py"), files[0] if len(files) == 1 else "MODULE")
    return f"write: postmill up {named} ({what_to_give(files)})"


def _served(run: Run, dsn: str) -> bool:
    """Whether there is an HTTP API: its libraries are here, and requests are kept within their tenants."""
    if any(find_spec(name) is None for name in ("fastapi", "uvicorn", "httpx")):
        run.out.note("no HTTP API: it needs an extra: pip install 'postmill[server]'")
        return False
    from postmill.cli.serving import check

    with open_connection(dsn) as conn:
        found = statement(conn, entrances(schema=run.schema))
    try:
        check(found, run.settings)
    except CliError as fault:
        run.out.warn(f"no HTTP API: {fault}", fault.hint)
        return False
    return True


def _link(run: Run, dsn: str, http: str) -> str:
    """A link that opens one login, for whoever started all this: he owns the database."""
    with open_connection(dsn) as conn:
        made = run.act(conn, create_link(who(), Role.SUPER_ADMIN, schema=run.schema))
    return link(
        run,
        made.token,
        _public(run.settings.server.public_url, http) or f"{http}{run.settings.server.root_path}",
    )


def _public(url: str | None, http: str) -> str | None:
    """How people reach us, if that is set, and not what the file of another `postmill up` has left in this shell."""
    if url and url == os.environ.get(ADDRESS) and url != http and is_loopback(urlsplit(url).hostname or ""):
        return None
    return url


@contextmanager
def _database(run: Run, data: Path, http: str) -> Iterator[tuple[str, Path | None]]:
    """The migrated database: its URL, and the file that has it, where the server is ours."""
    if run.given.dsn:
        with open_connection(run.dsn) as conn:
            migrate(conn, run.schema)
        os.environ[VARIABLE] = run.dsn
        yield run.dsn, None
        return
    more = {ADDRESS: http}
    store = f"file://{data.absolute() / ARTIFACTS}"
    # Our own address comes back to us where the file that we write was sourced.
    if run.settings.artifacts.address in (None, store):
        more[STORE_VARIABLE] = store
    with LocalDatabase(data, schema=run.schema, more=more, told=run.out.note) as database:
        other = os.environ.get(VARIABLE)
        if other and other != database.dsn:
            run.out.warn(
                f"{VARIABLE} names another database ({described(other)}); other commands here will use that one",
                f"unset {' '.join(filter(os.environ.get, (VARIABLE, ADDRESS, STORE_VARIABLE)))}, or run with --dsn",
            )
        # The worker's process finds it there: a command line is for everybody on the machine to read.
        os.environ[VARIABLE] = database.dsn
        if STORE_VARIABLE in more:
            os.environ[STORE_VARIABLE] = more[STORE_VARIABLE]
        yield database.dsn, database.environment_file


def _worker(run: Run, modules: Sequence[str], port: int, report: Path) -> list[str]:
    words = ["worker", *modules]
    if run.out.side.is_terminal:
        words.append("--quiet-start")  # the ready line says it
    words += ["--build", run.given.build] if run.given.build else []
    return child_command([*words, "--child", "0/1", "--report", str(report), "--port", str(port)], run.given)


def _server(run: Run, port: int, worker: int) -> list[str]:
    words = ["server", "--port", str(port), "--child", "--worker", address(LOOPBACK, worker)]
    return child_command(words, run.given)


def _tell(run: Run, facts: Facts, registry: Registry) -> None:
    if run.out.as_json:
        run.out.document(facts)
        return
    ready = Text.assemble(("ready", "bold green"), "; Ctrl-C drains and stops, the data is kept")
    types = facts.job_types
    rows = [
        ("job types", ", ".join(types) if types else "none: only stored commands run"),
        ("console, log in once", facts.login),
        ("API", f"{facts.http}/api/v1" if facts.login else None),
        ("metrics", f"{facts.http}/metrics"),
        ("database", facts.database_url),
        ("for programs elsewhere", facts.environment_file),
        ("try, in another terminal", sample_line(registry) if types else "postmill init"),
    ]
    run.out.console.print(ready)
    run.out.facts([(name, value) for name, value in rows if value is not None])
