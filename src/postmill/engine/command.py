"""Runs a command: argv without a shell, in a session and a scratch folder of its own, to a certain end."""

from __future__ import annotations

import asyncio
import math
import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from postmill.engine.child_guard.ending import Ending
from postmill.engine.child_guard.launch import Launch
from postmill.engine.child_supervisor import Guarded
from postmill.engine.child_waiting import stopping_on, to_the_end
from postmill.engine.command_checks import CommandRefused, argv_bytes, env_bytes
from postmill.engine.command_tails import text_of

ENV_ALLOW = ("PATH", "HOME", "LANG", "LC_ALL", "TZ")


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run and its limits.

    Attributes:
        argv: program and arguments, handed over byte for byte (text as UTF-8). A program without a slash is looked
            for in the PATH of the command's own environment.
        env: variables of this command; they win over the inherited ones.
        env_allow: names of those variables of the worker that the command inherits. Nothing else is.
        timeout: seconds from its start until SIGTERM; None for no limit.
        grace: seconds from SIGTERM to SIGKILL.
        tail_bytes: how much of the end of stdout and of stderr is kept, in bytes of UTF-8.
        memory_limit: bytes of address space (RLIMIT_AS) of each of its processes; None for no limit.
        scratch_root: folder in which its working directory is made; default: the system's for temporary files.
        folder: name of a folder that it finds in its working directory; None: that is empty.

    Raises CommandRefused for what cannot be run as it is: NUL, an empty argv, a limit that is no number.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    env_allow: tuple[str, ...] = ENV_ALLOW
    timeout: float | None = None
    grace: float = 5.0
    tail_bytes: int = 16384
    memory_limit: int | None = None
    scratch_root: Path | None = None
    folder: str | None = None

    def __post_init__(self) -> None:
        argv_bytes(self.argv)
        env_bytes(self.env, self.env_allow, {})
        for name in ("timeout", "grace", "tail_bytes", "memory_limit"):
            value = getattr(self, name)
            if value is not None and not (
                isinstance(value, int | float) and math.isfinite(value) and value >= 0
            ):
                raise CommandRefused(f"{name} must be a finite number from 0 up, not {value!r}")

    def launch(self) -> Launch:
        """The order for the guard, with what is inherited from this process now."""
        return Launch(
            argv_bytes(self.argv),
            env_bytes(self.env, self.env_allow, os.environ),
            timeout=self.timeout,
            grace=self.grace,
            tail_bytes=self.tail_bytes,
            memory_limit=self.memory_limit,
            scratch_root=os.fsencode(self.scratch_root or tempfile.gettempdir()),
            folder=os.fsencode(self.folder or ""),
        )


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended.

    Attributes:
        exit_code, signal: one of them, as the program itself ended; neither if it never started.
        pid: of the program; None if it was canceled before it started.
        stdout_tail, stderr_tail: the end of each output as text that can be stored.
        stdout_bytes, stderr_bytes: how much there was in all.
        timed_out, canceled: what made us stop it; at most one of them. A program that catches SIGTERM may have an
            exit code nevertheless.
        duration: seconds from its start to its own end.
    """

    exit_code: int | None
    signal: int | None
    pid: int | None
    stdout_tail: str
    stderr_tail: str
    timed_out: bool
    canceled: bool
    duration: float
    stdout_bytes: int = 0
    stderr_bytes: int = 0


Collect = Callable[[Path], Awaitable[object]]


async def run_command(
    command: Command,
    *,
    on_start: Callable[[int], object] | None = None,
    cancel: asyncio.Event | None = None,
    collect: Collect | None = None,
) -> CommandResult:
    """Run a command to its end. Afterwards none of its processes is left, and no file of its scratch folder.

    `on_start` gets its pid. When `cancel` is set, or the awaiting task is cancelled, its process group gets SIGTERM
    and after `grace` SIGKILL; a second cancellation of the task kills at once. In each case this returns (or raises
    CancelledError) only when everything has ended. Processes that outlive the program are killed as soon as it
    has ended, those that still hold its outputs after half a second. `collect` gets the command's `folder` after a success
    (exit code 0 by itself), when all its processes have ended; what it raises is raised.

    Raises:
        OSError: it could not be started: FileNotFoundError, PermissionError, E2BIG …
        GuardLost: its supervising process was killed, and so was the command.
    """
    if cancel is not None and cancel.is_set():
        return CommandResult(None, None, None, "", "", False, True, 0.0)
    guarded = Guarded(command.launch())
    return await to_the_end(_run(guarded, command, on_start, cancel, collect), guarded)


async def _run(
    guarded: Guarded,
    command: Command,
    on_start: Callable[[int], object] | None,
    cancel: asyncio.Event | None,
    collect: Collect | None,
) -> CommandResult:
    async with guarded, stopping_on(cancel, guarded.stop):
        assert guarded.pid is not None
        if on_start is not None:
            on_start(guarded.pid)
        ending = await guarded.ended()
        succeeded = ending.exit_code == 0 and not (ending.timed_out or ending.stopped)
        if collect is not None and command.folder is not None and succeeded:
            await collect(Path(os.fsdecode(guarded.folder)) / command.folder)
    return _result(guarded.pid, ending, command.tail_bytes)


def _result(pid: int, ending: Ending, tail_bytes: int) -> CommandResult:
    return CommandResult(
        ending.exit_code,
        ending.signal,
        pid,
        text_of(ending.out, tail_bytes),
        text_of(ending.err, tail_bytes),
        ending.timed_out,
        ending.stopped,
        ending.seconds,
        ending.out.total,
        ending.err.total,
    )
