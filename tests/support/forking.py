"""`python -m MODULE …` and `python -c CODE …` as forks of a zygote, for those who start them by `subprocess`.

A real child of the process that starts it, with its own pid, signals, pipes and exit code; only the interpreter's
start and the imports are spared. `forked` does it for this process, for a while; `install` for good.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Self

Ask = Callable[[Mapping[str, Any], Sequence[int]], Mapping[str, Any]]
Serve = Callable[[socket.socket], object]

_PR_SET_CHILD_SUBREAPER = 36
_MODULE = re.compile(r"(?:postmill|examples|tests)(?:\.\w+)*")
_OPTIONS = frozenset({"-P", "-u", "-W"})
_EXECUTE = subprocess.Popen._execute_child  # type: ignore[attr-defined]
_CREATE = asyncio.create_subprocess_exec


def order_of(
    argv: Sequence[str],
    folder: str,
    env: Mapping[str, str],
    *,
    session: bool = True,
    adopt: bool = False,
) -> dict[str, Any] | None:
    """The zygote's order for a command line of this Python; None if it is another program, or has other options."""
    words = [os.fsdecode(word) for word in argv]
    if not words or words.pop(0) != sys.executable:
        return None
    here = True
    while words and words[0] in _OPTIONS:
        option = words.pop(0)
        here = here and option != "-P"
        if option == "-W":
            words.pop(0)
    if len(words) < 2 or words[0] not in ("-m", "-c"):
        return None
    named = words[0] == "-m"
    return {
        "do": "run",
        "argv": words[1:] if named else ["-c", *words[2:]],
        "folder": folder,
        "env": dict(env),
        "module": words[1] if named else "",
        "code": "" if named else words[1],
        "function": "",
        "session": session,
        "adopt": adopt,
        "family": named and words[1].startswith("examples."),
        "desk": False,
        "here": here,
    }


def modules_of(order: Mapping[str, Any]) -> list[str]:
    """What is to be imported before the fork, for this process and for later ones: whatever its words name."""
    serves = order["module"].startswith("postmill") and {"up", "server"} & set(order["argv"][1:2])
    words = [order["module"], *order["argv"], *(["postmill.cli.serving"] if serves else [])]
    return [word for word in words if _MODULE.fullmatch(word)]


def be_main(module: str, code: str) -> None:
    """Run as `python -m` or `python -c` would."""
    sys.modules["__main__"] = main = ModuleType("__main__")
    if module:
        for name in (module, f"{module}.__main__"):
            sys.modules.pop(name, None)  # it was imported beforehand, and runpy would warn of that
        runpy._run_module_as_main(module)  # type: ignore[attr-defined]
    else:
        exec(compile(code, "<string>", "exec"), vars(main))


@contextlib.contextmanager
def forked(ask: Ask) -> Iterator[None]:
    """Meanwhile every Python that this process starts by `subprocess` is forked, and its child."""

    def while_reaping(order: Mapping[str, Any], given: Sequence[int]) -> Mapping[str, Any]:
        _reap(True)
        try:
            return ask(order, given)
        finally:
            _reap(False)  # orphans of others are not ours

    _patch(while_reaping)
    try:
        yield
    finally:
        subprocess.Popen._execute_child = _EXECUTE  # type: ignore[attr-defined]


def install(ask: Ask) -> None:
    """From now on every Python that this process starts, by `subprocess` or `asyncio`, is forked, and its child."""
    _reap(True)
    _patch(ask)
    asyncio.create_subprocess_exec = _create


def nursery(serve: Serve) -> Ask:
    """A zygote below this process, which has done nothing yet. It ends with it; its children do not."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        # Signals to the whole group are for the others in it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        near.close()
        with open(os.devnull, "r+b") as nothing:
            for descriptor in range(3):
                os.dup2(nothing.fileno(), descriptor)
        serve(far)
        os._exit(0)
    far.close()

    def ask(order: Mapping[str, Any], given: Sequence[int]) -> Mapping[str, Any]:
        socket.send_fds(near, [json.dumps(order).encode()], list(given))
        answer: Mapping[str, Any] = json.loads(near.recv(100_000))
        return answer

    return ask


def _reap(on: bool) -> None:
    """Be the parent of orphans below this process, or no longer."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)


def _patch(ask: Ask) -> None:
    def execute(popen: Any, args: Any, executable: Any, preexec: Any, *rest: Any) -> None:
        _, pass_fds, folder, env, _, _, shell, *pipes = rest[:13]
        _, gid, gids, uid, umask, session, group = rest[13:]
        plain = not (executable or preexec or pass_fds or shell or gid or gids or uid)
        order = None
        if plain and umask == -1 and group == -1 and not isinstance(args, str | bytes):
            variables = os.environ if env is None else env
            order = order_of(args, os.fspath(folder or os.getcwd()), variables, session=session, adopt=True)
        if order is None:
            _EXECUTE(popen, args, executable, preexec, *rest)
            return
        theirs = (pipes[0], pipes[3], pipes[5])
        try:
            given = [default if one == -1 else one for default, one in enumerate(theirs)]
            popen.pid = ask(order, given)["pid"]
            popen._child_created = True
        finally:
            popen._close_pipe_fds(*pipes)

    subprocess.Popen._execute_child = execute  # type: ignore[attr-defined]


async def _create(*argv: Any, **options: Any) -> Any:
    """`asyncio.create_subprocess_exec`, as far as it is used with a Python."""
    if order_of(argv, "", {}) is None or set(options) - {"stdin"}:
        return await _CREATE(*argv, **options)
    return await _Child.of(subprocess.Popen(argv, **options))


class _Child:
    """An `asyncio.subprocess.Process` with its standard input."""

    def __init__(self, popen: subprocess.Popen[bytes], stdin: asyncio.StreamWriter | None) -> None:
        self._popen = popen
        self.pid = popen.pid
        self.stdin = stdin
        self.send_signal = popen.send_signal

    @classmethod
    async def of(cls, popen: subprocess.Popen[bytes]) -> Self:
        if popen.stdin is None:
            return cls(popen, None)
        loop = asyncio.get_running_loop()
        pipe = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, popen.stdin)
        return cls(popen, asyncio.StreamWriter(*pipe, None, loop))

    @property
    def returncode(self) -> int | None:
        return self._popen.returncode

    async def wait(self) -> int:
        loop, ended, descriptor = asyncio.get_running_loop(), asyncio.Event(), os.pidfd_open(self.pid)
        loop.add_reader(descriptor, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)
        if self.stdin is not None:
            self.stdin.close()
        return self._popen.wait()
