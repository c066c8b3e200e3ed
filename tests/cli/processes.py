"""The command line as processes of its own, forked where a thousand imports are already made (`spawner.py`)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.eventually import eventually
from tests.support.spawner import Forked, spawner

SOURCES = Path(__file__).parents[2] / "src"


class Running:
    """A command as a process, its output in files."""

    def __init__(self, process: Forked, out: Path, err: Path) -> None:
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
                raise AssertionError(f"it ended with {self.process.code}:\n{self.out}\n{self.err}")
            return found

        found = eventually(look, timeout, f"{pattern!r} said")
        assert found is not None
        return found

    def signal(self, number: int) -> None:
        """Send a signal to the process."""
        self.process.signal(number)

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
        streams = (None, stdout.fileno(), stderr.fileno())
        process = spawner().fork(["postmill", *words], folder, variables, streams)
    try:
        yield Running(process, out, err)
    finally:
        if process.poll() is None:
            process.kill()
