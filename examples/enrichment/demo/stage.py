"""Everything that the demo plays on: database, tables, the service's stand-in, workers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psycopg

from examples.enrichment import statements
from examples.enrichment.demo.options import Options
from examples.staging.children import Child, ChildFailed
from examples.staging.steps import Steps
from postmill.local import LocalDatabase

MODULE = "examples.enrichment.jobs"
SHORT_LEASE = "5s"
START_WITHIN = 60.0


@dataclass(frozen=True, slots=True)
class Stage:
    """What runs while the demo does."""

    dsn: str
    workers: list[Child]
    api: Child

    def check(self) -> None:
        """Raises ChildFailed if one of the processes has ended by itself."""
        for child in (*self.workers, self.api):
            child.check()


@contextmanager
def stage(options: Options, steps: Steps) -> Iterator[Stage]:
    """Starts everything, and ends it in the opposite order: workers drain first, the database stops last."""
    with ExitStack() as stack:
        with steps.step(f"PostgreSQL in {options.data}") as done:
            database = stack.enter_context(LocalDatabase(options.data))
            with psycopg.connect(database.dsn, autocommit=True) as conn:
                conn.execute(statements.schema())
                done(_version(conn))
        with steps.step("the enrichment service's stand-in") as done:
            api = Child(
                "the stand-in",
                ["examples.upstreams.enrichment_api", "--script", options.script],
                options.data / "service.log",
            )
            stack.enter_context(api)
            url = api.first_line()
            done(f"{url}, script {options.script!r}" if len(options.script) < 20 else url)
        with steps.step(f"{options.workers} workers, {options.slots} slots each") as done:
            workers = [
                stack.enter_context(_worker(number, options, database.dsn, url))
                for number in range(1, options.workers + 1)
            ]
            running = Stage(database.dsn, workers, api)
            _until_ready(running)
            done("processes " + ", ".join(str(worker.pid) for worker in workers))
        yield running


def _until_ready(running: Stage) -> None:
    """Captures begin when the workers serve, so that the times shown are of the jobs and not of the start."""
    pids = [str(worker.pid) for worker in running.workers]
    deadline = time.monotonic() + START_WITHIN
    with psycopg.connect(running.dsn, autocommit=True) as conn:
        while conn.execute(statements.text("workers_ready"), {"pids": pids}).fetchone() != (len(pids),):
            running.check()
            if time.monotonic() > deadline:
                raise ChildFailed(f"the workers did not begin to serve within {START_WITHIN:g} s")
            time.sleep(0.05)


def _worker(number: int, options: Options, dsn: str, url: str) -> Child:
    env = {
        "POSTMILL_DATABASE_URL": dsn,
        "POSTMILL_SETTINGS": str(statements.FOLDER / "postmill.toml"),
        "ENRICHMENT_API_URL": url,
    }
    if options.kill_worker:
        env["POSTMILL_WORKER__LEASE"] = SHORT_LEASE
    command = [
        "examples.staging.tied",
        "postmill",
        "worker",
        MODULE,
        "--queues",
        f"enrichment={options.slots}",
    ]
    return Child(f"worker {number}", command, options.data / f"worker-{number}.log", env)


def _version(conn: psycopg.Connection[object]) -> str:
    number = conn.info.server_version
    return f"version {number // 10000}.{number % 10000}"
