"""Runs a job in a supervised process of its own: one that asks for it, or one that has taken a worker down before."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from postmill.engine import child_frames
from postmill.engine.child_guard.launch import Launch
from postmill.engine.child_outcome import START_SECONDS, Heard, died, outcome
from postmill.engine.child_spec import ChildResult, ChildSpec
from postmill.engine.child_supervisor import Guarded, GuardLost
from postmill.engine.child_waiting import stopping_on, to_the_end

OnProgress = Callable[[float, float | None, str | None], object]

OnSpent = Callable[[str, float], object]

_ROOT = str(Path(__file__).parents[2])


async def run_in_child(
    spec: ChildSpec,
    *,
    timeout: float | None,
    grace: float,
    cancel: asyncio.Event | None = None,
    on_progress: OnProgress | None = None,
    on_spent: OnSpent | None = None,
) -> ChildResult:
    """Run one job in a child process, to its end. Afterwards nothing of it is left: no process, zombie or descriptor.

    Args:
        timeout: seconds from the start of the handler until it is asked to stop; None for no limit.
        grace: seconds from SIGTERM to SIGKILL, and for what a handler leaves behind when it has answered.
        cancel: once set, the handler is asked to stop. So it is when the awaiting task is cancelled; CancelledError
            goes on its way when the child has ended, a second cancellation kills it.
        on_spent: gets unit and amount of what was booked in a budget.
        on_progress: gets done, total and text; at most about four times a second.

    Raises:
        OSError: the process could not be started.
    """
    if cancel is not None and cancel.is_set():
        return ChildResult("canceled")
    mine, its = socket.socketpair()
    with mine, its:
        launch = Launch(
            [
                os.fsencode(part)
                for part in (sys.executable, "-P", "-m", "postmill.engine.child", str(its.fileno()))
            ],
            _environment(),
            timeout=START_SECONDS,
            grace=grace,
            tail_bytes=spec.tail_bytes,
            keep=[its.fileno()],
        )
        guarded = Guarded(launch)
        run = _Run(spec, guarded, timeout, grace, on_progress, on_spent)
        return await to_the_end(run.run(mine, its, cancel), guarded)


def _environment() -> dict[bytes, bytes]:
    """The worker's own, with the way to this package in front; the child takes that out again."""
    path = os.environb.get(b"PYTHONPATH")
    return {**os.environb, b"PYTHONPATH": os.fsencode(_ROOT) + (os.pathsep.encode() + path if path else b"")}


class _Run:
    def __init__(
        self,
        spec: ChildSpec,
        guarded: Guarded,
        timeout: float | None,
        grace: float,
        on_progress: OnProgress | None,
        on_spent: OnSpent | None,
    ) -> None:
        self._spec = spec
        self._guarded = guarded
        self._timeout = timeout
        self._grace = grace
        self._on_progress = on_progress
        self._on_spent = on_spent
        self._heard = Heard()

    async def run(self, mine: socket.socket, its: socket.socket, cancel: asyncio.Event | None) -> ChildResult:
        try:
            async with self._guarded, stopping_on(cancel, self._guarded.stop):
                its.close()
                reader, writer = await asyncio.open_unix_connection(sock=mine)
                listening = asyncio.ensure_future(self._listen(reader))
                try:
                    writer.write(self._order())
                    ending = await self._guarded.ended()
                    # All who could hold the other end are dead, so this ends, too.
                    await listening
                finally:
                    listening.cancel()
                    writer.close()
                    with contextlib.suppress(ConnectionError):
                        await writer.wait_closed()
        except GuardLost as lost:
            return ChildResult(
                "died", error=died(str(lost)), pid=self._guarded.pid, settled=self._heard.settled
            )
        assert self._guarded.pid is not None
        return outcome(self._heard, ending, self._guarded.pid, self._timeout, self._spec.tail_bytes)

    def _order(self) -> bytes:
        spec = self._spec
        context = dict(spec.context)
        if self._timeout is not None:
            context["timeout"] = self._timeout
        head = {
            "modules": spec.importable(),
            "job_type": spec.job_type,
            "context": context,
            "conninfo": spec.conninfo,
            "schema": spec.schema,
            "prepared": spec.prepared,
            "memory_limit": spec.memory_limit,
            "artifacts": dict(spec.artifacts),
            "sys_path": sys.path,
            "pythonpath": os.environ.get("PYTHONPATH"),
        }
        return child_frames.pack(head, spec.payload)

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while (frame := await child_frames.read(reader)) is not None:
                self._hear(*frame)
        except child_frames.BadFrame:
            self._heard.spoiled = True
            self._guarded.kill()
        except BaseException:
            self._guarded.kill()
            raise

    def _hear(self, head: dict[str, Any], blob: bytes) -> None:
        heard = self._heard
        if head.get("started"):
            heard.started = time.monotonic()
            self._guarded.limit(self._timeout)
        elif head.get("settled"):
            heard.settled = True
        elif "fanned" in head:
            heard.fanned = str(head["fanned"])
        elif "spent" in head:
            self._hear_spent(head["spent"])
        elif "where" in head:
            heard.where = str(head["where"])
        elif head.get("answer"):
            heard.answer = head
            heard.result = None if head.get("empty") else blob
            self._guarded.ending(self._grace)
        else:
            words = head.get("progress")
            if not isinstance(words, list) or len(words) != 3:
                raise child_frames.BadFrame
            if self._on_progress is not None:
                self._on_progress(*words)

    def _hear_spent(self, said: Any) -> None:
        match said:
            case [str(unit), float(amount)] if self._on_spent is not None:
                self._on_spent(unit, amount)
            case [str(), float()]:
                pass
            case _:
                raise child_frames.BadFrame
