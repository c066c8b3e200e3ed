"""Everything that the demo plays on: database, control plane, Dropbox's stand-in, the application's web server, workers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from cryptography.fernet import Fernet
from psycopg import Connection

from examples.photos import statements
from examples.photos.demo.options import Options
from examples.photos.demo.tenants import Account, Tenant, accounts, put_on_the_allow_list, tenants
from examples.staging.children import ROOT, Child, ChildFailed
from examples.staging.control import Control
from examples.staging.steps import Steps
from postmill.local import LocalDatabase

SHORT_LEASE = "3s"
START_WITHIN = 60.0
APP_SECRET = "the secret of the demo's Dropbox app"


@dataclass(frozen=True, slots=True)
class Stage:
    """What runs while the demo does."""

    dsn: str
    conn: Connection[object]
    key: str
    library: Path
    dropbox: str
    root: Control
    tenants: list[Tenant]
    workers: list[Child]
    others: list[Child]

    def check(self) -> None:
        """Raises ChildFailed if one of the processes has ended by itself."""
        for child in (*self.workers, *self.others):
            child.check()


@contextmanager
def stage(options: Options, steps: Steps) -> Iterator[Stage]:
    """Starts everything, and ends it in the opposite order: workers drain first, the database stops last."""
    with ExitStack() as stack:
        with steps.step("pictures of two tenants") as done:
            dropboxes = accounts(options.pictures, options.new)
            done(f"{sum(len(one.first) + len(one.later) for one in dropboxes)} drawn")
        with steps.step(f"PostgreSQL in {options.data}") as done:
            database = stack.enter_context(LocalDatabase(options.data))
            conn = stack.enter_context(psycopg.connect(database.dsn, autocommit=True))
            conn.execute(statements.schema())
            done(f"version {conn.info.server_version // 10000}")
        data = options.data.absolute()
        env = _environment(options, database.dsn, data)
        with steps.step("the control plane: postmill server") as done:
            command = ["examples.staging.tied", "postmill", "server", "--port", "0"]
            server = stack.enter_context(Child("the server", command, data / "server-api.log", env))
            url = _address_in(server)
            root = stack.enter_context(Control(url, _first_key(env)))
            put_on_the_allow_list(root)
            playing = stack.enter_context(tenants(root, url, dropboxes))
            done(f"{url}; 4 commands, {len(playing)} tenants")
        with steps.step("the application's web server, and Dropbox's stand-in") as done:
            web = ["examples.staging.tied", "examples.photos.web"]
            receiver = stack.enter_context(Child("the web server", web, data / "web.log", env))
            dropbox = stack.enter_context(_dropbox(options, dropboxes, receiver.first_line(), data))
            address = dropbox.first_line()
            done(f"{address}, script {options.script[:20]!r}")
        env |= {"DROPBOX_API_URL": address, "DROPBOX_CONTENT_URL": address}
        with steps.step(f"{options.workers} workers") as done:
            workers = [
                stack.enter_context(_worker(number, env, data)) for number in range(1, options.workers + 1)
            ]
            running = Stage(
                database.dsn, conn, env["ZOLTAG_SECRET_KEY"], Path(env["ZOLTAG_LIBRARY"]), address, root, playing,
                workers, [server, receiver, dropbox],
            )  # fmt: skip
            _until_ready(running)
            done("processes " + ", ".join(str(worker.pid) for worker in workers))
        yield running


def _environment(options: Options, dsn: str, data: Path) -> dict[str, str]:
    place = data / "token.key"
    if not place.exists():
        place.touch(0o600)
        place.write_bytes(Fernet.generate_key())
    folders = (statements.FOLDER / "bin", Path(sys.executable).parent)
    env = {
        "PATH": os.pathsep.join([*map(str, folders), os.environ.get("PATH", os.defpath)]),
        "POSTMILL_DATABASE_URL": dsn,
        "POSTMILL_SETTINGS": str(statements.FOLDER / "postmill.toml"),
        "ZOLTAG_DATABASE_URL": dsn,
        "ZOLTAG_LIBRARY": str(data / "library"),
        "ZOLTAG_SECRET_KEY": place.read_text().strip(),
        "DROPBOX_APP_SECRET": APP_SECRET,
        "DROPBOX_PAGE": "24",
    }
    return env | ({"POSTMILL_WORKER__LEASE": SHORT_LEASE} if options.kill_worker else {})


def _first_key(env: dict[str, str]) -> str:
    """A super admin's key, by the command line as on a new machine."""
    words = [
        sys.executable,
        "-m",
        "postmill",
        "keys",
        "create",
        "demo",
        "--role",
        "super_admin",
        "--for",
        "1d",
    ]
    made = subprocess.run(words, cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True)
    if made.returncode != 0:
        raise ChildFailed(f"postmill keys create ended with {made.returncode}: {made.stderr}")
    return made.stdout.strip()


def _dropbox(options: Options, dropboxes: list[Account], webhook: str, data: Path) -> Child:
    words = ["examples.upstreams.dropbox", "--script", options.script, "--webhook", webhook]
    words += ["--app-secret", APP_SECRET]
    for account in dropboxes:
        words += ["--account", f"{account.id}={account.token}"]
    return Child("Dropbox's stand-in", words, data / "dropbox.log")


def _worker(number: int, env: dict[str, str], data: Path) -> Child:
    command = ["examples.staging.tied", "postmill", "worker", "--queues", "default=2"]
    return Child(f"worker {number}", command, data / f"worker-{number}.log", env)


def _address_in(server: Child) -> str:
    """Where the API listens, as the server's log says."""
    deadline = time.monotonic() + START_WITHIN
    while time.monotonic() < deadline:
        server.check()
        found = re.search(r"API at (http://\S+)/api/v1", server.log.read_text(errors="replace"))
        if found:
            return found[1]
        time.sleep(0.05)
    raise ChildFailed(f"the server did not begin to serve within {START_WITHIN:g} s")


def _until_ready(running: Stage) -> None:
    pids = {worker.pid for worker in running.workers}
    deadline = time.monotonic() + START_WITHIN
    while not pids <= {one["pid"] for one in running.root.every("/workers") if one["state"] == "running"}:
        running.check()
        if time.monotonic() > deadline:
            raise ChildFailed(f"the workers did not begin to serve within {START_WITHIN:g} s")
        time.sleep(0.1)
