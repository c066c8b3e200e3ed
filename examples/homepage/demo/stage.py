"""Everything that the demo plays on: database, stand-ins, control plane with console, portals, workers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
from psycopg import Connection

from examples.homepage import statements
from examples.homepage.demo.data import rows
from examples.homepage.demo.furniture import furnish
from examples.homepage.demo.options import Options
from examples.homepage.demo.portals import Portal, portals, sources
from examples.homepage.demo.stand_ins import present, stand_ins
from examples.homepage.demo.workers import MODULES, START_WITHIN, Workers, not_shown
from examples.staging.children import ROOT, Child, ChildFailed
from examples.staging.control import Control
from examples.staging.steps import Steps
from postmill import Registry
from postmill.local import LocalDatabase

LEASE = 5.0
"""Seconds: so soon is a killed worker's job run again."""
BASE_DELAY = 5.0
"""Seconds; 30 in homepage.yaml. A demo does not last long enough for those."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What runs while the demo does. `since` is when it began; `missing` says of job types why they cannot run here, `told`
    where stand-ins and folders are, by the variables of the application."""

    conn: Connection[Any]
    root: Control
    portals: list[Portal]
    workers: Workers
    others: list[Child]
    console: str
    missing: dict[str, str]
    since: datetime
    told: Mapping[str, str]

    def check(self) -> None:
        """Raises ChildFailed if one of the processes has ended by itself."""
        self.workers.check()
        for child in self.others:
            child.check()


@contextmanager
def stage(options: Options, steps: Steps) -> Iterator[Stage]:
    """Starts everything, and ends it in the opposite order: workers drain first, the database stops last."""
    data = options.data.absolute()
    with ExitStack() as stack:
        with steps.step(f"PostgreSQL in {options.data}") as done:
            database = LocalDatabase(options.data)
            # A worker has about twenty connections, and here are six and a server.
            database.server.settings["max_connections"] = "300"
            stack.enter_context(database)
            conn = stack.enter_context(psycopg.connect(database.dsn, autocommit=True))
            conn.execute(statements.schema())
            [[since]] = conn.execute("select postmill.now()").fetchall()
            done(f"version {conn.info.server_version // 10000}")
        env = {
            "POSTMILL_DATABASE_URL": database.dsn,
            "POSTMILL_SETTINGS": str(statements.FOLDER / "homepage.yaml"),
            "POSTMILL_WORKER__LEASE": f"{LEASE:g}s",
            "POSTMILL_RETRY__BASE_DELAY": f"{BASE_DELAY:g}s",
            "HOMEPAGE_ALLOW_PRIVATE": "127.0.0.1",
        }
        with steps.step("stand-ins for the rest of the world") as done:
            others, told = stand_ins(stack, data, env)
            env |= told
            feeds = sources(conn, told["DEMO_FEEDS"])
            furnish(conn, database.dsn, told)
            rows(conn, "plan_anew")
            done(", ".join(one.name for one in present()))
        with steps.step("workers, a process for each family of queues") as done:
            served = Registry.collect(*MODULES)
            missing = not_shown(served)
            queues = {handler.queue for handler in served if handler.name not in missing}
            workers = Workers(stack, data, env, queues)
            done("processes " + ", ".join(str(child.pid) for child in workers.children.values()))
        with steps.step("the control plane: postmill server") as done:
            command = ["examples.staging.tied", "postmill", "server", "--port", "0"]
            server = stack.enter_context(Child("the server", command, data / "server-api.log", env))
            url = _address_in(server)
            workers.until_ready(conn)
            done(f"{url}; {len(served.names)} job types")
        with steps.step("two portals with feeds of their own") as done:
            root = stack.enter_context(
                Control(url, _said(env, "keys", "create", "demo", "--role", "super_admin", "--for", "1d"))
            )
            playing = stack.enter_context(portals(root, url, feeds))
            done(", ".join(portal.slug for portal in playing))
        console = _said(env, "login", "--url", url)
        yield Stage(
            conn, root, playing, workers, [server, *others], console,
            missing, since, told,
        )  # fmt: skip


def _said(env: Mapping[str, str], *words: str) -> str:
    """What a command prints, by the command line as on a new machine."""
    command = [sys.executable, "-m", "postmill", *words]
    made = subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True)
    if made.returncode != 0:
        raise ChildFailed(f"postmill {' '.join(words)} ended with {made.returncode}: {made.stderr}")
    return made.stdout.strip()


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
