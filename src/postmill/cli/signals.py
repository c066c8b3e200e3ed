"""Signals of a process that works: the first drains, the second ends it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType
from typing import Protocol

PATIENCE = 3.0
"""Seconds from the second signal until a process that works ends by force."""


class Stoppable(Protocol):
    """A worker, or the supervisor of several."""

    def drain(self) -> None:
        """Take nothing more, finish what runs."""

    def abort(self) -> None:
        """End at once."""


class Stopper:
    """Hands on SIGTERM and SIGINT: the first as a drain, the second as an abort, the third as a kill.

    A child of a supervisor ignores SIGINT (Ctrl-C goes to the whole group of the terminal, and the parent hands it
    on as SIGTERM) and every SIGTERM after the first (systemd sends one to the whole group, the parent another).
    On its standard input the parent says that it shall end at once; the end of the input says that the parent is gone.

    `patience` is the most seconds from the abort to the end of the process, whatever a handler does, on the loop or in
    a thread, and the third signal ends it in this moment. None: neither; a supervisor kills its children by itself, and
    has things to put away.
    """

    def __init__(
        self,
        target: Stoppable,
        *,
        child: bool = False,
        told: Callable[[str], object] = lambda text: None,
        patience: float | None = None,
    ):
        self._target = target
        self._child = child
        self._force = None if patience is None else _Force(patience)
        self._came = 0
        self._since: float | None = None
        # Of a child the parent says it.
        self._told = (lambda text: None) if child else told
        self.number: int | None = None
        self.count = 0

    @property
    def draining(self) -> float | None:
        """Seconds since the first signal; None before it."""
        return None if self._since is None else time.monotonic() - self._since

    @property
    def exit_code(self) -> int:
        """0 for a drain; 128 + signal number where a second signal ended it."""
        return 0 if self.count < 2 or self.number is None else 128 + self.number

    def retarget(self, target: Stoppable) -> None:
        """From now on this is what signals are for; those that came before count for it, too."""
        self._target = target
        if self.count:
            target.drain()
        if self.count > 1:
            target.abort()

    def install(self) -> None:
        """Take over the signals of the running loop's process."""
        loop = asyncio.get_running_loop()

        def came(number: int, frame: FrameType | None) -> None:
            # Not a handler of the loop's: a coroutine that blocks the loop is what a second signal may be meant for.
            self._came += 1
            if self._came > 1 and self._force is not None and not self._child:
                self._force.arm(number, at_once=self._came > 2)
            if not loop.is_closed():
                loop.call_soon_threadsafe(self.signaled, number)

        if self._force is not None:
            self._force.start()
        signal.signal(signal.SIGTERM, came)
        if self._child:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            loop.add_reader(sys.stdin.fileno(), self._parent_said)
        else:
            signal.signal(signal.SIGINT, came)

    def signaled(self, number: int, *, aborting: bool = False) -> None:
        """One more signal came; `aborting`: and it is meant to end a child at once."""
        if self._child and self.count and not aborting:
            return
        self.count += 1
        self.number = number
        self._since = self._since or time.monotonic()
        if self.count == 1:
            self._told("draining; once more ends at once")
            self._target.drain()
        elif self.count == 2:
            self._told("ending at once")
            if self._force is not None:
                self._force.arm(number)
            self._target.abort()

    def _parent_said(self) -> None:
        if os.read(sys.stdin.fileno(), 4096):
            self.count = max(1, self.count)
            self.signaled(signal.SIGTERM, aborting=True)
        else:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            self._told("the parent process is gone; draining")
            self._since = self._since or time.monotonic()
            self._target.drain()


class _Force:
    """Ends this process some seconds after it was armed, from a thread that waits for that."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._armed: SimpleQueue[int] = SimpleQueue()  # the one queue that a signal's handler may put into

    def start(self) -> None:
        threading.Thread(target=self._run, name="postmill-end", daemon=True).start()

    def arm(self, number: int, *, at_once: bool = False) -> None:
        """The signal's number makes the exit code."""
        if at_once:
            os._exit(128 + number)
        self._armed.put(number)

    def _run(self) -> None:
        number = self._armed.get()
        time.sleep(self._patience)
        os._exit(128 + number)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Until a loop takes over the signals: SIGTERM ends the block as Ctrl-C does, so that it is left in order."""

    def stop(number: int, _: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
