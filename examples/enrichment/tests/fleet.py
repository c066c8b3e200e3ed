"""Real processes for the end-to-end tests: workers by `python -m postmill worker`, the service by its module."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection

from examples.enrichment import statements
from examples.enrichment.tests.app import until
from examples.staging.children import Child
from examples.upstreams.script import Script

JOBS = "examples.enrichment.jobs"


class Fleet:
    """Starts and ends the processes of one test. Their logs are in the test's folder."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self.dsn = dsn
        self.workers: list[Child] = []
        self._folder = folder
        self._stack = ExitStack()
        self._url = ""

    def serve(self, script: Script) -> None:
        """Start the enrichment service."""
        command = ["examples.upstreams.enrichment_api", "--script", script.model_dump_json()]
        api = self._stack.enter_context(Child("service", command, self._folder / "service.log"))
        self._url = api.first_line()

    async def hire(self, count: int = 1, slots: int = 8, **variables: str) -> list[Child]:
        """Start so many workers and wait until they serve. `variables` are those of their environment."""
        env = {
            "POSTMILL_DATABASE_URL": self.dsn,
            "POSTMILL_SETTINGS": str(statements.FOLDER / "postmill.toml"),
            "ENRICHMENT_API_URL": self._url,
        } | variables
        hired = []
        for _ in range(count):
            number = len(self.workers) + 1
            command = ["postmill", "worker", JOBS, "--queues", f"enrichment={slots}"]
            worker = Child(f"worker {number}", command, self._folder / f"worker-{number}.log", env)
            self.workers.append(self._stack.enter_context(worker))
            hired.append(worker)
        await self._serving(hired)
        return hired

    async def _serving(self, hired: list[Child]) -> None:
        pids = [str(worker.pid) for worker in hired]
        async with await AsyncConnection.connect(self.dsn, autocommit=True) as conn:

            async def all_of_them() -> bool:
                for worker in hired:
                    worker.check()
                return bool(await statements.one(conn, "workers_ready", pids=pids) == len(pids))

            await until(all_of_them, 30.0, "all workers' serving")

    def close(self) -> None:
        """End all that still run, the workers first."""
        self._stack.close()


@asynccontextmanager
async def fleet(dsn: str, folder: Path, script: Script) -> AsyncIterator[Fleet]:
    """A service with this script, and workers as they are hired."""
    made = Fleet(dsn, folder)
    try:
        made.serve(script)
        yield made
    finally:
        await asyncio.to_thread(made.close)


async def holds(conn: AsyncConnection[Any], worker: Child) -> int:
    """How many jobs a worker has in hand."""
    cursor = await conn.execute(
        "select from enrichment_outbox where status = 'IN_PROGRESS' and split_part(locked_by, ':', 2) = %s",
        [str(worker.pid)],
    )
    return cursor.rowcount
