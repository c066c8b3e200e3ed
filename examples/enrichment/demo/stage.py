"""Everything that the demo plays on: database, tables, the service's stand-in, workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psycopg

from examples.enrichment import statements
from examples.enrichment.demo.children import Child
from examples.enrichment.demo.display import Steps
from examples.enrichment.demo.options import Options
from postmill.local.server import LocalServer
from postmill.schema.runner import migrate

MODULE = "examples.enrichment.jobs"
SHORT_LEASE = "5s"


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
            server = stack.enter_context(LocalServer(options.data))
            done(_version(server.dsn()))
        with steps.step("Postmill's schema, the application's tables") as done:
            applied = migrate(server.dsn())
            with psycopg.connect(server.dsn(), autocommit=True) as conn:
                conn.execute(statements.schema())
            done(f"{len(applied)} migrations applied" if applied else "up to date")
        with steps.step("the enrichment service's stand-in") as done:
            api = Child(
                "the stand-in",
                ["examples.upstreams.enrichment_api", "--script", options.script],
                options.data / "service.log",
            )
            stack.enter_context(api)
            url = api.first_line()
            done(f"{url}, script {options.script!r}" if len(options.script) < 20 else url)
        with steps.step(f"{options.workers} workers with {options.slots} slots each") as done:
            workers = [
                stack.enter_context(_worker(number, options, server.dsn(), url))
                for number in range(1, options.workers + 1)
            ]
            done("processes " + ", ".join(str(worker.pid) for worker in workers))
        yield Stage(server.dsn(), workers, api)


def _worker(number: int, options: Options, dsn: str, url: str) -> Child:
    env = {
        "POSTMILL_DATABASE_URL": dsn,
        "POSTMILL_SETTINGS": str(statements.FOLDER / "postmill.toml"),
        "ENRICHMENT_API_URL": url,
    }
    if options.kill_worker:
        env["POSTMILL_WORKER__LEASE"] = SHORT_LEASE
    command = ["examples.enrichment.demo.tied", "worker", MODULE, "--queues", f"enrichment={options.slots}"]
    return Child(f"worker {number}", command, options.data / f"worker-{number}.log", env)


def _version(dsn: str) -> str:
    with psycopg.connect(dsn) as conn:
        number = conn.info.server_version
    return f"version {number // 10000}.{number % 10000}"
