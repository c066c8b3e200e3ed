"""The child's way back to its worker: what a handler's context says and asks, and the one answer."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from postmill.domain.error_record import STACK_BYTES
from postmill.domain.text import clean
from postmill.engine.child_frames import pack

_EVERY = 0.25  # seconds between two words on progress; the worker writes at most one a second
_TEXT = 1024


class ChildLink:
    """The `ContextLink` of a handler in a child process. Safe to use from every thread of it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._stopping = False
        self._said = -_EVERY
        self._unsaid: list[Any] | None = None
        self._answered = False
        self.on_stop: Callable[[], object] | None = None
        self.worker_id = ""
        self.log_fields: Mapping[str, object] = {}

    def listen(self) -> None:
        """From now on SIGTERM is a request: `stopping()` becomes true, and `on_stop` is called."""
        signal.signal(signal.SIGTERM, self._stop)
        # Not so in processes that the handler forks off: a multiprocessing.Pool ends its workers by SIGTERM.
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))

    def _stop(self, number: int, frame: FrameType | None) -> None:
        first, self._stopping = not self._stopping, True
        if self.on_stop is not None:
            self.on_stop()
        elif first:
            self._tell_where(frame)

    def _tell_where(self, frame: FrameType | None) -> None:
        """Where a function hangs: should it have to be killed, nobody can ask it any more.

        This runs in a signal handler, which may have interrupted a `send`: then there is no second chance.
        """
        if not self._lock.acquire(blocking=False):
            return
        where = clean("".join(traceback.format_stack(frame)), STACK_BYTES)
        try:
            self._connection.sendall(pack({"where": where}))
        except OSError:
            return  # the handler has closed it; what comes of that is told at its end
        finally:
            self._lock.release()

    def stopping(self) -> bool:
        return self._stopping

    def log(self, info: Any) -> Any:
        """The logger of the handler's context."""
        from postmill.telemetry.job_log import job_log  # most handlers here log by printing

        return job_log(info, self.worker_id, self.log_fields)

    def progress(self, done: float, total: float | None, text: str | None) -> None:
        """Passed on at most every quarter of a second; the last word is kept for the answer."""
        self._unsaid = [
            float(done),
            None if total is None else float(total),
            text and clean(str(text), _TEXT),
        ]
        if time.monotonic() - self._said >= _EVERY:
            self._say()

    def settled(self) -> None:
        """At once: should the process die now, the worker must know that the job is done."""
        self.send({"settled": True})

    def spent(self, unit: str, amount: float) -> None:
        """For the worker's counters."""
        self.send({"spent": [str(unit), float(amount)]})

    def completes(self) -> None:
        """Nothing to tell: the worker reports when this process, and with it that transaction, has ended."""

    def fanned(self, steps: str) -> None:
        self.send({"fanned": steps})

    def started(self) -> None:
        self.send({"started": True})

    def answer(self, head: dict[str, Any], blob: bytes = b"") -> None:
        """The last frame; only the first one counts."""
        if self._answered:
            return
        self._say()
        self.send({"answer": True, "stopping": self._stopping, **head}, blob)
        self._answered = True

    def is_copy(self) -> bool:
        """Is this a process that the handler forked off, and that has returned into our code?"""
        return os.getpid() != self._pid

    def _say(self) -> None:
        if self._unsaid is not None:
            words, self._unsaid = self._unsaid, None
            self._said = time.monotonic()
            self.send({"progress": words})

    def send(self, head: dict[str, Any], blob: bytes = b"") -> None:
        if self.is_copy():
            return
        with self._lock:
            self._connection.sendall(pack(head, blob))
