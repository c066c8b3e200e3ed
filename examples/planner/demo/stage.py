"""Everything that the demo plays on: database, the providers' stand-ins, the application's web server, a worker."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
from psycopg import Connection

from examples.planner import statements
from examples.planner.demo.options import Options
from examples.staging.children import Child, ChildFailed
from examples.staging.steps import Steps
from postmill.local import LocalDatabase

PEOPLE = Path(__file__).with_name("people.sql")
START_WITHIN = 60.0


@dataclass(frozen=True, slots=True)
class Stage:
    """What runs while the demo does. `api` is below the festival's organization."""

    conn: Connection[Any]
    api: httpx.Client
    providers: httpx.Client
    env: dict[str, str]
    children: list[Child]

    def check(self) -> None:
        """Raises ChildFailed if one of the processes has ended by itself."""
        for child in self.children:
            child.check()


@contextmanager
def stage(options: Options, steps: Steps) -> Iterator[Stage]:
    """Starts everything, and ends it in the opposite order: the worker drains first, the database stops last."""
    data = options.data.absolute()
    with ExitStack() as stack:
        with steps.step(f"PostgreSQL in {options.data}") as done:
            database = stack.enter_context(LocalDatabase(options.data))
            conn = stack.enter_context(psycopg.connect(database.dsn, autocommit=True))
            conn.execute(statements.schema())
            found = conn.execute(PEOPLE.read_bytes().strip()).fetchone()
            assert found is not None
            done(f"version {conn.info.server_version // 10000}; a new organization, {found[0]}")
        with steps.step("the providers' stand-ins") as done:
            child = Child("the stand-ins", ["examples.upstreams.messages"], data / "providers.log")
            providers = stack.enter_context(child)
            http, smtp = providers.first_line().split()
            done(f"SMS, push, in-app {http}, mail {smtp}")
        env = {
            "POSTMILL_DATABASE_URL": database.dsn,
            "POSTMILL_SETTINGS": str(statements.FOLDER / "postmill.toml"),
            "POSTMILL_ARTIFACTS__URL": f"file://{data / 'artifacts'}",
            "TWILIO_URL": http, "TWILIO_ACCOUNT_SID": "AC1", "TWILIO_AUTH_TOKEN": "t", "TWILIO_FROM": "+31600000000",
            "EXPO_URL": http, "ABLY_URL": http, "ABLY_API_KEY": "app.key:secret", "SMTP_URL": smtp,
        }  # fmt: skip
        with steps.step("the application's API") as done:
            words = ["examples.staging.tied", "examples.planner.web"]
            web = stack.enter_context(Child("the API", words, data / "web.log", env))
            address = web.first_line()
            done(f"{address}/docs")
        with steps.step("a worker") as done:
            words = ["examples.staging.tied", "postmill", "worker", "examples.planner.jobs"]
            worker = stack.enter_context(Child("the worker", words, data / "worker.log", env))
            token = {"Authorization": "Bearer olga"}
            base = f"{address}/api/orgs/{found[0]}"
            api = stack.enter_context(httpx.Client(base_url=base, headers=token, timeout=30.0))
            asked = stack.enter_context(httpx.Client(base_url=http, timeout=30.0))
            running = Stage(conn, api, asked, env, [providers, web, worker])
            _until_ready(running, str(worker.pid))
            done(f"process {worker.pid}")
        yield running


def _until_ready(running: Stage, pid: str) -> None:
    deadline = time.monotonic() + START_WITHIN
    while running.conn.execute(statements.text("workers_ready"), {"pids": [pid]}).fetchone() != (1,):
        running.check()
        if time.monotonic() > deadline:
            raise ChildFailed(f"the worker did not begin to serve within {START_WITHIN:g} s")
        time.sleep(0.05)
