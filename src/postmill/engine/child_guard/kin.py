"""The guard's relations: its worker, its children, and the orphans that it adopts."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_LINUX = sys.platform == "linux"
_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36

# Looked up before any fork: nothing is imported or resolved between fork and exec.
_prctl = ctypes.CDLL(None).prctl if _LINUX else None


def adopt_orphans() -> None:
    """Become the subreaper of all descendants, and show as `postmill-guard` in process lists."""
    if _prctl is not None:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        _prctl(_PR_SET_NAME, b"postmill-guard", 0, 0, 0)


def die_with(parent: int) -> None:
    """In a fresh child: be killed when the parent dies. It may have died before the kernel was told."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(127)


def watch_worker(worker: int) -> int | None:
    """A descriptor that becomes readable when the worker dies; None where the system has none such."""
    try:
        fd = os.pidfd_open(worker)
    except (AttributeError, OSError):  # not Linux, an old kernel, or a sandbox that forbids it
        fd = None
    if os.getppid() != worker:  # it died before we looked
        os._exit(0)
    return fd


def children(but: int) -> list[int]:
    """The living and unreaped children of this process, but one. Off Linux always none: nobody is adopted."""
    if not _LINUX:
        return []
    me = os.getpid()
    try:
        with open(f"/proc/self/task/{me}/children", "rb") as listing:
            pids = [int(pid) for pid in listing.read().split()]
    except OSError:  # a kernel without CONFIG_PROC_CHILDREN
        pids = [pid for pid in _processes() if _parent_of(pid) == me]
    return [pid for pid in pids if pid != but]


def status_of(pid: int, *, wait: bool) -> tuple[int | None, int | None] | None:
    """Exit code and signal of a child that has ended, or None while it runs. It is not reaped (off Linux it is)."""
    if not _LINUX:
        ended, status = os.waitpid(pid, 0 if wait else os.WNOHANG)
        code = os.waitstatus_to_exitcode(status)
        return None if not ended else (code, None) if code >= 0 else (None, -code)
    how = os.WEXITED | os.WNOWAIT | (0 if wait else os.WNOHANG)
    info = os.waitid(os.P_PID, pid, how)
    if info is None:
        return None
    return (info.si_status, None) if info.si_code == os.CLD_EXITED else (None, info.si_status)


def release(pid: int) -> None:
    """Reap a child whose status is known."""
    if _LINUX:  # elsewhere asking for the status has done it
        os.waitpid(pid, 0)


def reap(but: int) -> None:
    """Wait for every adopted child that has ended."""
    for pid in children(but):
        os.waitpid(pid, os.WNOHANG)


def send(pid: int, number: int) -> None:
    """A signal to a process or (negative) a group that may be gone, or not ours to signal."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def group_of(pid: int) -> int | None:
    """The process group, or None if the process is gone."""
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _parent_of(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # The name before it may hold blanks and parentheses.
            return int(stat.read().rpartition(b")")[2].split()[1])
    except OSError:
        return None
