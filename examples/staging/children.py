"""The processes that a demo starts. Each ends with it, however it ends: its input is a pipe from here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
"""The folder in which `examples` lies: where the children import it from."""


class ChildFailed(Exception):
    """A child ended by itself, or did not begin."""


class Child:
    """A Python module run as a process; what it writes goes to a log file."""

    def __init__(
        self,
        name: str,
        module: Sequence[str],
        log: Path,
        env: Mapping[str, str] | None = None,
        *,
        cwd: Path = ROOT,
    ) -> None:
        self.name = name
        self.log = log
        self._module = list(module)
        self._cwd = cwd
        self._env = {**os.environ, **(env or {}), "PYTHONUNBUFFERED": "1"}
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False

    @property
    def pid(self) -> int | None:
        """Its process id, once it was started."""
        return self._process.pid if self._process else None

    def start(self) -> Self:
        """Begin, in a session of its own: Ctrl-C is for the demo, which ends its children in order."""
        with open(self.log, "wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *self._module],
                cwd=self._cwd,
                env=self._env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        return self

    def first_line(self) -> str:
        """The first line of its output. Raises ChildFailed if it ends without one."""
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode().strip()
        if not line:
            raise ChildFailed(f"{self.name} did not start; it said:\n{self.last_words()}")
        return line

    def check(self) -> None:
        """Raises ChildFailed if it has ended by itself."""
        if self._process is not None and not self._killed and self._process.poll() is not None:
            raise ChildFailed(
                f"{self.name} ended with code {self._process.returncode}; it said:\n{self.last_words()}"
            )

    def kill(self) -> None:
        """SIGKILL, as by the kernel when memory runs out."""
        self._killed = True
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self, timeout: float = 15.0) -> None:
        """Ask it to end in order; after `timeout` seconds it is killed."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process = None

    def last_words(self, lines: int = 12) -> str:
        """The end of its log."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:]) or "(nothing)"

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
