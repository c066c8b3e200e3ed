"""The command line in this process, and as processes of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from postmill.cli.tree import app
from tests.support.eventually import eventually

SOURCES = Path(__file__).parents[2] / "src"

JOBS = '''
import asyncio
import os
import signal
import time

from postmill import Context, job


@job
async def greet(ctx: Context, name: str, times: int = 1, loud: bool = False) -> str:
    """Greets."""
    for n in range(times):
        ctx.progress(n, times, f"greeting {name}")
        await asyncio.sleep(0.01)
    return f"Hello {name}" + ("!" if loud else "")


@job(max_attempts=1)
async def fail(why: str = "no luck") -> None:
    raise ValueError(why)


@job
async def nap(seconds: float, started: str = "") -> str:
    if started:
        open(started, "w").close()
    await asyncio.sleep(seconds)
    return "rested"


@job(queue="high")
def who() -> int:
    time.sleep(0.05)
    return os.getpid()


@job(queue="high")
def kill_me() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
'''


@dataclass(frozen=True)
class Answer:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Stdout as the one JSON document that it must be."""
        return json.loads(self.out)


def cli(
    *words: str, dsn: str | None = None, stdin: str | None = None, env: Mapping[str, str] | None = None
) -> Answer:
    """Run a command in this process."""
    variables = {name: None for name in os.environ if name.startswith("POSTMILL_") and "_TEST_" not in name}
    given: dict[str, str | None] = {**variables, "COLUMNS": "200", **(env or {})}
    if dsn is not None:
        given["POSTMILL_DATABASE_URL"] = dsn
    result = CliRunner().invoke(app, list(words), input=stdin, env=given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(result.exit_code, result.stdout, result.stderr)


class Running:
    """A command as a process, its output in files."""

    def __init__(self, process: subprocess.Popen[bytes], out: Path, err: Path) -> None:
        self.process = process
        self._out, self._err = out, err

    @property
    def out(self) -> str:
        """What it wrote to stdout so far."""
        return self._out.read_text(errors="replace")

    @property
    def err(self) -> str:
        """What it wrote to stderr so far."""
        return self._err.read_text(errors="replace")

    def says(self, pattern: str, timeout: float = 30.0) -> re.Match[str]:
        """Wait until the pattern stands in one of its streams."""

        def look() -> re.Match[str] | None:
            found = re.search(pattern, self.out) or re.search(pattern, self.err)
            if found is None and self.process.poll() is not None:
                raise AssertionError(f"it ended with {self.process.returncode}:\n{self.out}\n{self.err}")
            return found

        found = eventually(look, timeout, f"{pattern!r} said")
        assert found is not None
        return found

    def signal(self, number: int) -> None:
        """Send a signal to the process."""
        self.process.send_signal(number)

    def ends(self, timeout: float = 30.0) -> int:
        """Wait for its end; its exit code."""
        return self.process.wait(timeout)


@contextmanager
def running(
    folder: Path, *words: str, dsn: str | None = None, env: Mapping[str, str] | None = None
) -> Iterator[Running]:
    """A command as a process in a folder; its group is killed at the end."""
    number = len(list(folder.glob("*.stdout")))
    out, err = folder / f"{number}.stdout", folder / f"{number}.stderr"
    variables = {name: value for name, value in os.environ.items() if not name.startswith("POSTMILL_")}
    variables |= {"PYTHONPATH": str(SOURCES), "POSTMILL_LOG__FORMAT": "json", **(env or {})}
    if dsn is not None:
        variables["POSTMILL_DATABASE_URL"] = dsn
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "postmill", *words],
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    try:
        yield Running(process, out, err)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def write_jobs(folder: Path) -> Path:
    """The module that the tests work with."""
    file = folder / "jobs.py"
    file.write_text(JOBS)
    return file
