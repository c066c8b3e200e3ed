"""Starts the processes of a page by way of the zygote, and knows what they wrote."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.support.eventually import eventually

ROOT = Path(__file__).parents[3]
LONGEST = 60.0
"""Seconds that anything may take."""


class Spawned:
    """A running process; stdout and stderr go to one file, as on a terminal."""

    def __init__(self, spawner: Spawner, pid: int, log: IO[str], name: str) -> None:
        self._spawner = spawner
        self._log = log
        self.pid = pid
        self.name = name
        self.code: int | None = None

    @property
    def output(self) -> str:
        """What it wrote so far."""
        self._log.seek(0)
        return self._log.read()

    def poll(self) -> int | None:
        """Its exit code, None while it runs."""
        if self.code is None:
            self.code = self._spawner.ask({"do": "wait", "pid": self.pid, "block": False})["code"]
        return self.code

    def ended(self, timeout: float = LONGEST) -> int:
        """Wait for its end; its exit code."""
        eventually(lambda: self.poll() is not None, timeout, f"end of {self.name}")
        assert self.code is not None
        return self.code

    def signal(self, number: int) -> None:
        """Signal the process itself."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def close(self) -> None:
        """Kill what is left of it and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        if self.poll() is None:
            self.ended()
        self._log.close()


class Spawner:
    """The near end of the zygote."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders

    def ask(self, order: Mapping[str, Any], given: Sequence[int] = ()) -> dict[str, Any]:
        """Send one order; the answer."""
        socket.send_fds(self._orders, [json.dumps(order).encode()], given)
        text = self._orders.recv(100_000)
        assert text, "the zygote has died"
        answer: dict[str, Any] = json.loads(text)
        return answer

    def start(
        self,
        argv: Sequence[str],
        folder: Path,
        env: Mapping[str, str],
        *,
        module: str = "postmill.cli.main",
        function: str = "main",
        stdin: int | None = None,
    ) -> Spawned:
        """A process of `module.function()`, as if it were the program `argv[0]`."""
        log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        with open(os.devnull) as nothing:
            order = {
                "do": "run", "argv": list(argv), "folder": str(folder), "env": dict(env),
                "module": module, "function": function,
            }  # fmt: skip
            given = [nothing.fileno() if stdin is None else stdin, log.fileno(), log.fileno()]
            pid = self.ask(order, given)["pid"]
        return Spawned(self, pid, log, " ".join(argv))


@contextmanager
def zygote() -> Iterator[Spawner]:
    """A zygote of this process's own."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with near:
        near.settimeout(LONGEST)
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.docs.zygote", str(far.fileno())],
            pass_fds=[far.fileno()], cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        far.close()
        try:
            yield Spawner(near)
        finally:
            near.close()
            process.wait(LONGEST)
