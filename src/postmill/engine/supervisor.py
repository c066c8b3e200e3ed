"""The parent of several worker processes: starts them, restarts what crashes, hands on drain and abort.

Each child has the parent's end of a pipe as its standard input: end of file there tells it that the parent is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

_QUICK = 5.0  # seconds; a child that dies earlier delays its successor
_MOST_DELAY = 10.0  # seconds
_KILL_AFTER = 10.0  # seconds beyond the grace period
_KILL_ABORTED_AFTER = 3.5  # seconds; one whose loop is blocked does not hear that it shall end

Told = Callable[["ChildDied"], None]


@dataclass(frozen=True, slots=True)
class ChildDied:
    """A worker process ended that should not have; its successor starts in `restart_in` seconds."""

    index: int
    pid: int
    code: int
    restart_in: float

    def __str__(self) -> str:
        how = f"killed by {signal.Signals(-self.code).name}" if self.code < 0 else f"exited with {self.code}"
        return (
            f"worker process {self.index} (pid {self.pid}) {how}; a new one starts in {self.restart_in:.1f} s"
        )


class Supervisor:
    """Runs one process per command line until all have drained.

    One that ends with the exit code `hopeless` at its first start, before it ever worked, ends them all: nobody would
    learn of it otherwise, while it is started again and again. Later that is tried again like any other end.
    """

    def __init__(
        self,
        commands: Sequence[Sequence[str]],
        *,
        grace: float,
        hopeless: int | None = None,
        told: Told = lambda event: None,
    ) -> None:
        self._commands = commands
        self._grace = grace
        self._hopeless = hopeless
        self._told = told
        self._children: dict[int, asyncio.subprocess.Process] = {}
        self._stopping = asyncio.Event()
        self._aborted = asyncio.Event()
        self.exit_code = 0

    @property
    def pids(self) -> list[int]:
        return [child.pid for child in self._children.values()]

    def drain(self) -> None:
        """SIGTERM to every child; what has not ended a little after the grace period is killed."""
        self._stopping.set()
        self._signal(signal.SIGTERM)

    def abort(self) -> None:
        """Have every child end at once; what has not within a few seconds is killed.

        Told on the pipe: a signal could be the same one, sent to the whole group.
        """
        self.drain()
        self._aborted.set()
        for child in self._children.values():
            if child.stdin is not None and not child.stdin.is_closing():
                child.stdin.write(b"!")

    def _signal(self, number: int) -> None:
        for child in self._children.values():
            with contextlib.suppress(ProcessLookupError):
                child.send_signal(number)

    async def run(self) -> int:
        """0 when all drained cleanly, else the first other exit code of a child that ended while draining."""
        keepers = [asyncio.create_task(self._keep(index)) for index in range(len(self._commands))]
        try:
            await self._stopping.wait()
            aborted = asyncio.create_task(self._aborted.wait())
            left = asyncio.gather(*keepers)
            either: set[asyncio.Future[Any]] = {left, aborted}
            await asyncio.wait(either, timeout=self._grace + _KILL_AFTER, return_when=asyncio.FIRST_COMPLETED)
            aborted.cancel()
            if self._aborted.is_set():
                await asyncio.wait({left}, timeout=_KILL_ABORTED_AFTER)
            if not left.done():
                self._signal(signal.SIGKILL)
            await left
        finally:
            for keeper in keepers:
                keeper.cancel()
            self._signal(signal.SIGKILL)
            await asyncio.gather(*keepers, return_exceptions=True)
        return self.exit_code

    async def _keep(self, index: int) -> None:
        """One place in the fleet of processes: somebody is always in it until the drain."""
        delay, first = 0.5, True
        while not self._stopping.is_set():
            began = monotonic()
            child = await asyncio.create_subprocess_exec(
                *self._commands[index], stdin=asyncio.subprocess.PIPE
            )
            self._children[index] = child
            if self._stopping.is_set():
                child.send_signal(signal.SIGTERM)
            code = await child.wait()
            del self._children[index]
            if first and code == self._hopeless:
                self.drain()
            first = False
            if self._stopping.is_set():
                # One that died of our SIGTERM had not begun to work: a worker takes that signal as a drain.
                self.exit_code = self.exit_code or (0 if code == -signal.SIGTERM else abs(code))
                return
            delay = min(_MOST_DELAY, delay * 2) if monotonic() - began < _QUICK else 0.5
            pause = delay * random.uniform(0.5, 1.0)
            self._told(ChildDied(index, child.pid, code, pause))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
