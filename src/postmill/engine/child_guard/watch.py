"""The guard's one loop: outputs, orders of the worker, the end of the program, timeout and grace period."""

from __future__ import annotations

import os
import select
import signal
import time

from . import kin, wire
from .ending import Ending
from .launch import Launch
from .start import Program
from .tail import Tail

LINGER = 0.5
"""Seconds that processes which outlive the program keep its outputs open, before they are killed."""

_IDLE = 3600.0


class Watch:
    """Watches one program until it has ended, or must be."""

    def __init__(self, launch: Launch, program: Program, control: int, worker: int | None, wake: int) -> None:
        now = time.monotonic()
        self._leader = program.pid
        self._tails = {program.out: Tail(launch.tail_bytes), program.err: Tail(launch.tail_bytes)}
        self._orphaned = False
        self._timed_out = False
        self._stopped = False
        self._status: tuple[int | None, int | None] | None = None
        self._seconds = 0.0
        self._grace = launch.grace
        self._control = control
        self._worker = worker
        self._wake = wake
        self._began = now
        self._timeout_at = None if launch.timeout is None else now + launch.timeout
        self._kill_at: float | None = None
        self._open = set(self._tails)
        self._poll = select.poll()
        for fd in (*self._open, control, wake, worker):
            if fd is not None:
                self._poll.register(fd, select.POLLIN)

    def run(self) -> None:
        """Return when everything that is left is to be killed."""
        self.look()
        while not self._over():
            for fd, _ in self._poll.poll(self._wait()):
                if fd in self._open:
                    self._drain(fd)
                elif fd == self._wake:
                    os.read(fd, 4096)
                    self.look()
                elif fd == self._worker:
                    self._orphaned = True
                else:
                    self._obey()

    def drain(self) -> None:
        """Take what the pipes still hold."""
        for fd in list(self._open):
            before = -1
            while fd in self._open and before != self._tails[fd].total:
                before = self._tails[fd].total
                self._drain(fd)

    def _drain(self, fd: int) -> None:
        if not self._tails[fd].read(fd):
            self._poll.unregister(fd)
            self._open.discard(fd)

    def look(self, *, wait: bool = False) -> None:
        """Something ended. The program itself stays a zombie for now: so its pid, and group, cannot be reused."""
        kin.reap(self._leader)
        if self._status is not None:
            return
        self._status = kin.status_of(self._leader, wait=wait)
        if self._status is not None:
            self._seconds = time.monotonic() - self._began
            self._timeout_at = None
            if self._asked:
                self._ask_strays()
            else:
                self._kill_within(LINGER)

    def ending(self) -> Ending:
        """The report, once the program has ended."""
        exit_code, number = self._status or (None, None)
        out, err = self._tails.values()
        return Ending(
            exit_code,
            number,
            timed_out=self._timed_out,
            stopped=self._stopped,
            seconds=self._seconds,
            out=out,
            err=err,
        )

    def _over(self) -> bool:
        now = time.monotonic()
        if self._timeout_at is not None and now >= self._timeout_at:
            self._timed_out = True
            self._ask()
        if self._orphaned or (self._kill_at is not None and now >= self._kill_at):
            return True
        if self._status is None or self._open:
            return False
        # After a SIGTERM the others, too, have the grace period; without one they had their time.
        return not self._asked or not kin.children(self._leader)

    def _wait(self) -> float:
        """Milliseconds until the next deadline, rounded up."""
        at = [at for at in (self._timeout_at, self._kill_at) if at is not None]
        seconds = min(at) - time.monotonic() if at else _IDLE
        return max(0.0, min(seconds, _IDLE)) * 1000 + 1

    @property
    def _asked(self) -> bool:
        return self._timed_out or self._stopped

    def _ask(self) -> None:
        """SIGTERM to the group, and the grace period begins. SIGCONT: a stopped process cannot obey."""
        self._timeout_at = None
        self._kill_within(self._grace)
        for number in (signal.SIGTERM, signal.SIGCONT):
            kin.send(-self._leader, number)
        self._ask_strays()

    def _ask_strays(self) -> None:
        for pid in kin.children(self._leader):
            if kin.group_of(pid) != self._leader:
                kin.send(pid, signal.SIGTERM)

    def _kill_within(self, seconds: float) -> None:
        at = time.monotonic() + seconds
        self._kill_at = at if self._kill_at is None else min(at, self._kill_at)

    def _obey(self) -> None:
        frame = wire.receive(self._control)
        if frame is None:
            self._orphaned = True
            return
        kind, fields = frame
        if kind == wire.STOP and not self._asked and self._status is None:
            self._stopped = True
            self._ask()
        elif kind == wire.LIMIT and not self._asked and self._status is None:
            self._timeout_at = time.monotonic() + float(fields[0]) if fields[0] else None
        elif kind == wire.ENDING:
            self._timeout_at = None
            self._kill_within(float(fields[0]))
        elif kind == wire.KILL:
            self._stopped = self._stopped or not self._asked
            self._kill_within(0)
