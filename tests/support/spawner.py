"""Starts processes by way of the zygote: real ones, in sessions of their own, without the imports' 0.5 s of processor.

`spawner()` is that of this test process. It is begun by the first test that wants it and ended with the run; what it
started and a test left running fails that test (`leaks.py`).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tests.support.eventually import eventually
from tests.support.forking import forked

ROOT = Path(__file__).parents[2]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""What has threads cannot be forked."""

LONGEST = 60.0
"""Seconds that anything may take."""


class Forked:
    """A running process."""

    def __init__(self, spawner: Spawner, pid: int, name: str) -> None:
        self._spawner = spawner
        self.pid = pid
        self.name = name
        self.code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, None while it runs."""
        if self.code is None:
            self.code = self._spawner.ask({"do": "wait", "pid": self.pid})["code"]
        return self.code

    def wait(self, timeout: float = LONGEST) -> int:
        """Wait for its end; its exit code, -N if signal N ended it."""
        eventually(lambda: self.poll() is not None, timeout, f"end of {self.name}")
        assert self.code is not None
        return self.code

    def signal(self, number: int) -> None:
        """Signal the process itself."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL to what is left of it and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()


class Spawned(Forked):
    """One whose stdout and stderr go to one file, as on a terminal."""

    def __init__(self, spawner: Spawner, pid: int, name: str, log: IO[str]) -> None:
        super().__init__(spawner, pid, name)
        self._log = log

    @property
    def output(self) -> str:
        """What it wrote so far."""
        self._log.seek(0)
        return self._log.read()

    def close(self) -> None:
        """Kill what is left of it and its children."""
        self.kill()
        self._log.close()


class Spawner:
    """The near end of a zygote."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._orders, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._orders.settimeout(LONGEST)
        with far:
            self.zygote = subprocess.Popen(
                [sys.executable, "-m", "tests.support.zygote", str(far.fileno())],
                pass_fds=[far.fileno()], cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True,
                env={**os.environ, **ONE_THREAD},
            )  # fmt: skip

    @property
    def descriptor(self) -> int:
        """That of the socket."""
        return self._orders.fileno()

    def close(self) -> None:
        """End the zygote and whatever it started."""
        self._orders.close()
        self.zygote.wait(LONGEST)

    def ask(self, order: Mapping[str, Any], given: Sequence[int] = ()) -> dict[str, Any]:
        """Send one order; the answer."""
        with self._lock:
            socket.send_fds(self._orders, [json.dumps(order).encode()], given)
            text = self._orders.recv(100_000)
        assert text, "the zygote has died"
        answer: dict[str, Any] = json.loads(text)
        return answer

    def fork(
        self,
        argv: Sequence[str],
        folder: Path,
        env: Mapping[str, str],
        streams: tuple[int | None, int, int],
        *,
        module: str = "postmill.cli.main",
        function: str = "main",
        family: bool = True,
        desk: bool = False,
    ) -> Forked:
        """A process of `module.function()`, as if it were the program `argv[0]`; without a function, of the module.

        `streams` are its stdin (None: nothing), stdout and stderr. What of ours it starts itself is forked as well,
        unless it shall be no `family`; so are the `postmill` of a shell with a `desk`.
        """
        order = {
            "do": "run", "argv": list(argv), "folder": str(folder), "env": dict(env),
            "module": module, "function": function, "code": "",
            "session": True, "adopt": False, "family": family and _has_children(module, argv, env), "desk": desk,
            "here": True,
        }  # fmt: skip
        with open(os.devnull) as nothing:
            stdin, *rest = streams
            pid = self.ask(order, [nothing.fileno() if stdin is None else stdin, *rest])["pid"]
        return Forked(self, pid, " ".join(argv))

    def start(
        self,
        argv: Sequence[str],
        folder: Path,
        env: Mapping[str, str],
        *,
        module: str = "postmill.cli.main",
        function: str = "main",
        stdin: int | None = None,
        family: bool = True,
        desk: bool = False,
    ) -> Spawned:
        """The same, its output kept in a file, line by line as on a terminal."""
        env = {"PYTHONUNBUFFERED": "1", **env}
        log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        streams = (stdin, log.fileno(), log.fileno())
        forked = self.fork(
            argv, folder, env, streams, module=module, function=function, family=family, desk=desk
        )
        return Spawned(self, forked.pid, forked.name, log)


def _has_children(module: str, argv: Sequence[str], env: Mapping[str, str]) -> bool:
    if module != "postmill.cli.main":
        return module.startswith("examples.")
    many = {"-p", "--processes"} & set(argv) or "POSTMILL_WORKER__MAX_JOBS_PER_PROCESS" in env
    return "up" in argv[1:2] or bool(many)


_SPAWNERS: list[Spawner] = []


def spawner() -> Spawner:
    """The one of this test process, begun if need be."""
    if not _SPAWNERS:
        _SPAWNERS.append(Spawner())
    return _SPAWNERS[0]


@contextlib.contextmanager
def forked_children() -> Iterator[None]:
    """Meanwhile every `python -m …` that this process starts is forked from the zygote, and a child of this process."""
    with forked(spawner().ask):
        yield


def lasting() -> tuple[int, int] | None:
    """Process id and descriptor of the zygote, which outlast the test that began it; None if none has."""
    return (_SPAWNERS[0].zygote.pid, _SPAWNERS[0].descriptor) if _SPAWNERS else None


def pytest_sessionfinish() -> None:
    """End with the run."""
    while _SPAWNERS:
        _SPAWNERS.pop().close()
