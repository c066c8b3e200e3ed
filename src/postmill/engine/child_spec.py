"""What a child process is told to run, and what it came to."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from postmill.domain.errors import PostmillError

Status = Literal["succeeded", "raised", "died", "timeout", "canceled"]


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """One run of one job in a process of its own.

    Attributes:
        modules: what holds the job type, as the worker was started with it: dotted names, or paths of files.
            `__main__` is translated. The child gets the worker's `sys.path` and working directory.
        job_type: name or alias.
        payload: its arguments, as JSON text.
        context: what `Context` needs, as JSON can carry it: the fields of `JobInfo`, `holder`, `claim_no`, and
            `timeout` (seconds or None), from which `ctx.deadline` follows.
        conninfo: of the database, for `ctx.transaction()`; it travels on a socket, so that it is in no list of
            processes.
        schema: Postmill's schema there.
        prepared: may statements be prepared on the server?
        memory_limit: bytes of address space (RLIMIT_AS) while the handler runs; None for no limit. A child without
            any data of its own takes about 300 MB of that.
        tail_bytes: how much of the end of stdout and of stderr is kept, in bytes of UTF-8.
        artifacts: the settings of artifacts, in clear.
    """

    modules: tuple[str, ...]
    job_type: str
    payload: bytes
    context: Mapping[str, Any]
    conninfo: str = field(repr=False)
    schema: str = "postmill"
    prepared: bool = True
    memory_limit: int | None = None
    tail_bytes: int = 16384
    artifacts: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def importable(self) -> list[str]:
        """The modules, by what another process can import."""
        return [_real_name(name) if name == "__main__" else name for name in self.modules]


@dataclass(frozen=True, slots=True)
class ChildResult:
    """How a run in a child process ended.

    Attributes:
        status: `succeeded`; `raised`: see error and signal_outcome; `died`: it ended without an answer; `timeout`
            and `canceled`: it was stopped for that, and gave no success. A success wins over both.
        result: JSON text of what the handler returned; None for None.
        error: see `child_error.describe`; also for `died` and `timeout`. `child_error.revive` makes an exception of it.
        signal_outcome: what a `domain.signals` exception decided: kind (`retry`, `snooze`, `cancel`, `bury`, `fail`,
            `deferred`, `exhausted`, `canceled`), reason, after (seconds or None).
        exit_code, signal, pid: of the process, None if it never started.
        stdout_tail, stderr_tail: the end of what it printed, as text that can be stored.
        settled: it completed the job in its own transaction, whatever came after.
        fanned: steps of a workflow that its success brings, as JSON.
        duration: seconds from the start of the handler to the end of the process; 0 if the handler never started.
    """

    status: Status
    result: bytes | None = None
    error: dict[str, Any] | None = None
    signal_outcome: dict[str, Any] | None = None
    exit_code: int | None = None
    signal: int | None = None
    pid: int | None = None
    stdout_tail: str = ""
    stderr_tail: str = ""
    settled: bool = False
    fanned: str | None = None
    duration: float = 0.0


class ProcessDied(PostmillError):
    """A child process ended before its handler gave an answer."""


def _real_name(name: str) -> str:
    main = sys.modules[name]
    spec = getattr(main, "__spec__", None)
    return spec.name if spec is not None else getattr(main, "__file__", None) or name
