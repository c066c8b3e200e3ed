"""Everything that the demo plays on: database, the service's stand-in, the application's web server, workers."""

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

from examples.staging.children import Child, ChildFailed
from examples.staging.steps import Steps
from examples.upstreams.script import Script
from examples.yellowbook import statements
from examples.yellowbook.demo.options import Options
from postmill.local import LocalDatabase

FIRST_KEY = "key-of-the-first-quarter"
ADMIN_TOKEN = "token-of-the-demo"
START_WITHIN = 60.0


@dataclass(frozen=True, slots=True)
class Stage:
    """What runs while the demo does."""

    dsn: str
    conn: Connection[Any]
    book: httpx.Client
    service: httpx.Client
    key_file: Path
    workers: list[Child]
    others: list[Child]

    def check(self) -> None:
        """Raises ChildFailed if one of the processes has ended by itself."""
        for child in (*self.workers, *self.others):
            child.check()

    def play(self, script: Script) -> None:
        """Another day at the service."""
        self.service.put("/script", content=script.model_dump_json()).raise_for_status()

    def revoke(self, new_key: str) -> None:
        """The service takes this key and no other."""
        self.service.put("/key", content=new_key).raise_for_status()

    def rotate(self, new_key: str) -> None:
        """The application has this key; nobody is restarted."""
        write_key(self.key_file, new_key)


def write_key(place: Path, key: str) -> None:
    """The key file, for its owner's eyes."""
    place.touch(0o600)
    place.write_text(key, encoding="utf-8")


def good_day(latency: float) -> Script:
    """Seconds, ± a third."""
    return Script(latency=(latency * 2 / 3, latency * 4 / 3))


@contextmanager
def stage(options: Options, steps: Steps) -> Iterator[Stage]:
    """Starts everything, and ends it in the opposite order: workers drain first, the database stops last."""
    with ExitStack() as stack:
        with steps.step(f"PostgreSQL with pgvector in {options.data}") as done:
            database = stack.enter_context(LocalDatabase(options.data))
            conn = stack.enter_context(psycopg.connect(database.dsn, autocommit=True))
            conn.execute(statements.schema())
            done(f"version {conn.info.server_version // 10000}")
        data = options.data.absolute()
        with steps.step("the Gemini API's stand-in") as done:
            words = ["examples.upstreams.gemini", "--key", FIRST_KEY]
            words += ["--script", good_day(options.latency).model_dump_json()]
            gemini = stack.enter_context(Child("the stand-in", words, data / "gemini.log"))
            url = gemini.first_line()
            done(f"{url}, {options.latency:g} s for a text")
        key_file = data / "gemini.key"
        write_key(key_file, FIRST_KEY)
        env = {
            "POSTMILL_DATABASE_URL": database.dsn,
            "POSTMILL_SETTINGS": str(statements.FOLDER / "postmill.toml"),
            "YELLOWBOOK_ADMIN_TOKEN": ADMIN_TOKEN,
            "GEMINI_API_URL": url,
            "GEMINI_API_KEY_FILE": str(key_file),
        }
        with steps.step("the application's API") as done:
            words = ["examples.staging.tied", "examples.yellowbook.web"]
            web = stack.enter_context(Child("the API", words, data / "web.log", env))
            address = web.first_line()
            done(f"{address}/docs")
        with steps.step(f"{options.workers} workers") as done:
            workers = [
                stack.enter_context(_worker(number, env, data)) for number in range(1, options.workers + 1)
            ]
            token = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
            book = stack.enter_context(httpx.Client(base_url=address, headers=token, timeout=30.0))
            service = stack.enter_context(httpx.Client(base_url=url, timeout=30.0))
            running = Stage(database.dsn, conn, book, service, key_file, workers, [gemini, web])
            _until_ready(running)
            done("processes " + ", ".join(str(worker.pid) for worker in workers))
        yield running


def _worker(number: int, env: dict[str, str], data: Path) -> Child:
    command = ["examples.staging.tied", "postmill", "worker", "examples.yellowbook.jobs"]
    return Child(f"worker {number}", command, data / f"worker-{number}.log", env)


def _until_ready(running: Stage) -> None:
    """Entries come in when the workers serve, so that the times shown are of the jobs and not of the start."""
    pids = [str(worker.pid) for worker in running.workers]
    deadline = time.monotonic() + START_WITHIN
    while running.conn.execute(statements.text("workers_ready"), {"pids": pids}).fetchone() != (len(pids),):
        running.check()
        if time.monotonic() > deadline:
            raise ChildFailed(f"the workers did not begin to serve within {START_WITHIN:g} s")
        time.sleep(0.05)
