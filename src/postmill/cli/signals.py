"""Signals of a process that works: the first drains, the second ends it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


class Stoppable(Protocol):
    """A worker, or the supervisor of several."""

    def drain(self) -> None:
        """Take nothing more, finish what runs."""

    def abort(self) -> None:
        """End at once."""


class Stopper:
    """Hands on SIGTERM and SIGINT: the first as a drain, the second as an abort; the third kills this process.

    A child of a supervisor ignores SIGINT (Ctrl-C goes to the whole group of the terminal, and the parent hands it
    on as SIGTERM) and every SIGTERM after the first (systemd sends one to the whole group, the parent another).
    On its standard input the parent says that it shall end at once; the end of the input says that the parent is gone.
    """

    def __init__(
        self, target: Stoppable, *, child: bool = False, told: Callable[[str], object] = lambda text: None
    ):
        self._target = target
        self._child = child
        # Of a child the parent says it.
        self._told = (lambda text: None) if child else told
        self.number: int | None = None
        self.count = 0

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
        loop.add_signal_handler(signal.SIGTERM, self.signaled, signal.SIGTERM)
        if self._child:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            loop.add_reader(sys.stdin.fileno(), self._parent_said)
        else:
            loop.add_signal_handler(signal.SIGINT, self.signaled, signal.SIGINT)

    def signaled(self, number: int, *, aborting: bool = False) -> None:
        """One more signal came; `aborting`: and it is meant to end a child at once."""
        if self._child and self.count and not aborting:
            return
        self.count += 1
        self.number = number
        if self.count == 1:
            self._told("draining; once more ends at once")
            self._target.drain()
        elif self.count == 2:
            self._told("ending at once")
            self._target.abort()
        else:
            os._exit(128 + number)

    def _parent_said(self) -> None:
        if os.read(sys.stdin.fileno(), 4096):
            self.count = max(1, self.count)
            self.signaled(signal.SIGTERM, aborting=True)
        else:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            self._told("the parent process is gone; draining")
            self._target.drain()


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
