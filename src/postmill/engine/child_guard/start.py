"""Fork and exec of the guarded program."""

from __future__ import annotations

import errno
import os
import resource
import signal

from . import kin
from .launch import Launch

# The kernel's out-of-memory killer is to choose the program before the worker or the guard.
_OOM_SCORE = 250


class Program:
    """A running program: its pid (also its group and session) and the reading ends of its output pipes."""

    __slots__ = ("err", "out", "pid")

    def __init__(self, pid: int, out: int, err: int) -> None:
        self.pid = pid
        self.out = out
        self.err = err


def start(launch: Launch, folder: bytes | None) -> Program:
    """Start the program and wait until it is really running. Raises OSError where it cannot be executed."""
    out, out_end = os.pipe()
    err, err_end = os.pipe()
    report, report_end = os.pipe()
    guard = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(launch, folder, guard, out_end, err_end, report_end)
    for fd in (out_end, err_end, report_end, *launch.keep):
        os.close(fd)
    failure = os.read(report, 64)  # ends by CLOEXEC when exec succeeds
    os.close(report)
    if failure:
        os.waitpid(pid, 0)
        raise OSError(int(failure), _why(int(failure), launch.argv[0]))
    os.set_blocking(out, False)
    os.set_blocking(err, False)
    return Program(pid, out, err)


def _why(code: int, program: bytes) -> str:
    if code == errno.ENOENT and b"/" not in program:
        return "no such program in the PATH of the worker"
    return os.strerror(code)


def _become(launch: Launch, folder: bytes | None, guard: int, out: int, err: int, report: int) -> None:
    """In the fresh child: turn into the program. Never returns."""
    try:
        os.setsid()
        kin.die_with(guard)
        _accept_oom()
        _reset_signals()
        os.dup2(out, 1)
        os.dup2(err, 2)
        for fd in launch.keep:
            os.set_inheritable(fd, True)
        if folder is not None:
            os.chdir(folder)
        if launch.memory_limit is not None:
            most = resource.getrlimit(resource.RLIMIT_AS)[1]
            limit = launch.memory_limit if most == resource.RLIM_INFINITY else min(launch.memory_limit, most)
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        os.execvpe(launch.argv[0], launch.argv, launch.env)
    except OSError as error:
        os.write(report, str(error.errno).encode())
    except MemoryError:
        os.write(report, str(errno.ENOMEM).encode())
    except BaseException:
        os.write(report, str(errno.EINVAL).encode())
    finally:
        os._exit(127)


def _reset_signals() -> None:
    """Ignored signals stay ignored over exec, blocked ones blocked: nothing of that is the program's affair."""
    for number in signal.valid_signals():
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _accept_oom() -> None:
    try:
        with open("/proc/self/oom_score_adj", "r+b", buffering=0) as score:
            score.write(str(min(1000, int(score.read()) + _OOM_SCORE)).encode())
    except (OSError, ValueError):
        return  # not Linux, or forbidden: it is only a preference
