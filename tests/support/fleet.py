"""Worker processes as a user starts them, and what to do to them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from tests.support.eventually import eventually
from tests.support.spawner import ROOT, spawner

HANDLERS = "tests.journey.handlers"


class WorkerProcess:
    """`postmill worker`, in a process group of its own."""

    def __init__(
        self,
        dsn: str,
        *arguments: str,
        module: str = HANDLERS,
        settings: Mapping[str, str] | None = None,
        log: Path | None = None,
    ) -> None:
        env = dict(os.environ) | {
            "POSTMILL_DATABASE_URL": dsn,
            "POSTMILL_WORKER__LEASE": "3",
            "POSTMILL_WORKER__GRACE": "5",
            "PROBE_DSN": dsn,
            "PYTHONPATH": os.pathsep.join(
                filter(None, (str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH")))
            ),
        }
        with open(log or os.devnull, "ab") as out:
            words = ["postmill", "worker", module, *arguments]
            streams = (None, out.fileno(), out.fileno())
            self.process = spawner().fork(words, ROOT, env | dict(settings or {}), streams)

    @property
    def pid(self) -> int:
        return self.process.pid

    def signal(self, number: int) -> None:
        self.process.signal(number)

    def kill(self) -> None:
        """SIGKILL to the whole group: nothing gets to say good-bye."""
        self.process.kill()

    def wait(self, seconds: float = 20.0) -> int:
        return self.process.wait(seconds)

    def end(self) -> None:
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
            with suppress(AssertionError):
                self.process.wait(15)
        self.kill()


class Fleet:
    """Starts workers and ends them all at the end."""

    def __init__(self, dsn: str, log: Path) -> None:
        self.dsn = dsn
        self.log = log
        self.workers: list[WorkerProcess] = []

    def start(self, *arguments: str, **options: Any) -> WorkerProcess:
        options.setdefault("log", self.log)
        worker = WorkerProcess(options.pop("dsn", self.dsn), *arguments, **options)
        self.workers.append(worker)
        return worker

    def ready(self, conn: psycopg.Connection[Any], n: int = 1) -> None:
        """Wait until so many sessions are open."""
        sql = "select count(*) from postmill.lease where expires_at > postmill.now()"
        eventually(lambda: conn.execute(sql).fetchone()[0] >= n, 30)  # type: ignore[index]


@contextmanager
def fleet(dsn: str, log: Path) -> Iterator[Fleet]:
    made = Fleet(dsn, log)
    try:
        yield made
    finally:
        for worker in made.workers:
            worker.end()
