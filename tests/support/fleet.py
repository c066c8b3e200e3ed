"""Worker processes as a user starts them, and what to do to them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from tests.support.eventually import eventually

HANDLERS = "tests.journey.handlers"
ROOT = Path(__file__).parents[2]


class WorkerProcess:
    """`python -m postmill worker`, in a process group of its own."""

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
        self._log = log.open("ab") if log is not None else None
        self.process = subprocess.Popen(
            [sys.executable, "-m", "postmill", "worker", module, *arguments],
            env=env | dict(settings or {}),
            cwd=ROOT,
            stdout=self._log or subprocess.DEVNULL,
            stderr=subprocess.STDOUT if self._log else subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        """SIGKILL to the whole group: nothing gets to say good-bye."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait(10)

    def wait(self, seconds: float = 20.0) -> int:
        return self.process.wait(seconds)

    def end(self) -> None:
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(15)
        self.kill()
        if self._log is not None:
            self._log.close()


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
