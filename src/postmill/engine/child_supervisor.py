"""The worker's side of a guard (see `child_guard`): starts it, gives orders, waits for its one report."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from postmill.domain.errors import PostmillError
from postmill.engine.child_guard import scratch, wire
from postmill.engine.child_guard.ending import Ending
from postmill.engine.child_guard.launch import Launch, number

_CODE = (
    "import sys; folder, control, worker = sys.argv[1:]; sys.path.append(folder); "
    "from child_guard.main import main; main(int(control), int(worker))"
)
_FOLDER = str(Path(__file__).parent)


class GuardLost(PostmillError):
    """The guard of a command or child process was killed; what it guarded was killed with it."""


class Guarded:
    """One guarded program. `async with` starts it; leaving early kills it; afterwards nothing of it is left.

    Raises OSError on entry, as `subprocess` does, if the program cannot be started.
    """

    def __init__(self, launch: Launch) -> None:
        self.pid: int | None = None
        self._launch = launch
        self._orders: list[bytes] = []
        self._folder = b""
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._guard: subprocess.Popen[bytes] | None = None

    async def __aenter__(self) -> Guarded:
        try:
            await self._start()
        except BaseException:
            await self._leave()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._leave()

    @property
    def folder(self) -> bytes:
        """The scratch folder; it stays until this is left. Empty: there is none."""
        return self._folder

    async def ended(self) -> Ending:
        """How the program ended. Raises GuardLost."""
        kind, fields = await self._frame()
        assert kind == wire.ENDED
        return Ending.of(fields)

    def stop(self) -> None:
        """SIGTERM to the program's group, SIGKILL after its grace period."""
        self._order(wire.pack(wire.STOP))

    def kill(self) -> None:
        """SIGKILL to everything at once."""
        self._order(wire.pack(wire.KILL))

    def limit(self, seconds: float | None) -> None:
        """A timeout that begins now, in place of the present one; None: no timeout."""
        self._order(wire.pack(wire.LIMIT, number(seconds)))

    def ending(self, seconds: float) -> None:
        """The program is about to end by itself: no timeout any more, but SIGKILL in so many seconds."""
        self._order(wire.pack(wire.ENDING, number(seconds)))

    def _order(self, frame: bytes) -> None:
        if self._writer is None:
            self._orders.append(frame)
        elif not self._writer.is_closing():
            self._writer.write(frame)

    async def _start(self) -> None:
        mine, its = socket.socketpair()
        try:
            self._guard = self._spawn(its.fileno())
            its.close()
            self._reader, writer = await asyncio.open_unix_connection(sock=mine)
        except BaseException:
            mine.close()
            its.close()
            raise
        writer.write(wire.pack(wire.LAUNCH, *self._launch.fields()))
        for order in self._orders:
            writer.write(order)
        self._writer = writer
        kind, fields = await self._frame()
        if kind == wire.REFUSED:
            raise self._refusal(int(fields[0]), fields[1].decode())
        assert kind == wire.STARTED
        self.pid = int(fields[0])
        self._folder = fields[1]

    def _spawn(self, control: int) -> subprocess.Popen[bytes]:
        """About 1 ms on the loop, which a thread would not save: the fork holds the interpreter's lock."""
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _CODE, _FOLDER, str(control), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(control, *self._launch.keep),
            start_new_session=True,
        )

    async def _frame(self) -> tuple[bytes, list[bytes]]:
        assert self._reader is not None
        try:
            head = await self._reader.readexactly(wire.HEAD)
            body = await self._reader.readexactly(wire.size_of(head))
        except (asyncio.IncompleteReadError, ConnectionError):
            raise await self._lost() from None
        return body[:1], wire.split(body[1:])

    def _refusal(self, code: int, text: str) -> OSError:
        name = os.fsdecode(self._launch.argv[0])
        if code == errno.E2BIG:
            longest = max(map(len, self._launch.argv))
            text += (
                f": {len(self._launch.argv)} arguments, the longest of {longest} bytes (Linux takes 131071)"
            )
        return OSError(code, text, name)

    async def _lost(self) -> GuardLost:
        """The guard is gone without a report. The kernel has killed the program; its group and folder are left."""
        assert self._guard is not None
        code = await self._exited()
        if self.pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            # Where this worker is PID 1, or a subreaper, it has inherited the program.
            for _ in range(100):
                if _reaped(self.pid):
                    break
                await asyncio.sleep(0.01)
        if self._folder:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(scratch.remove, self._folder)
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return GuardLost(f"the guard process {how} before it could report")

    async def _leave(self) -> None:
        """Close the connection, at which the guard kills what still runs, and wait until it has gone."""
        if self._writer is not None:
            self._writer.close()
            with contextlib.suppress(ConnectionError):
                await self._writer.wait_closed()
        if self._guard is not None and await self._exited() and self._folder:
            # Killed after its report, and before it could clean up.
            with contextlib.suppress(OSError):
                await asyncio.to_thread(scratch.remove, self._folder)

    async def _exited(self) -> int:
        """The guard's exit code. It is polled for: child watchers differ between loops, and steal from each other."""
        assert self._guard is not None
        pause = 0.0005
        while (code := self._guard.poll()) is None:
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.05)
        return code


def _reaped(pid: int) -> bool:
    """Is this process, which may not be our child, no zombie of ours (any more)?"""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True
