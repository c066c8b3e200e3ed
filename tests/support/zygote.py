"""A process that has imported everything and forks: a command costs milliseconds in place of most of a second.

Run as a program: `python -m tests.support.zygote FD`, FD being a SOCK_SEQPACKET socket. One JSON order at a time:
`run` (with three descriptors: stdin, stdout, stderr) forks and answers `{"pid": …}`; `wait` answers `{"code": …}`,
None while it still runs. It has one thread, so forking is safe, and ends with its parent.

An order with `adopt` makes a child of whoever asks (who must be a subreaper, see `forking.py`), not of this process.
One with `family` makes a process that has a zygote of its own, by which its `python -m …` are forked as well, one with
`desk` a shell whose `postmill` are (see `desk.py`).
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import random
import signal
import socket
import sys
import threading
from functools import cache
from typing import Any

from tests.support import desk, forking

WARM = (
    "jsonschema_rs",
    "postmill.bind.psycopg",
    "postmill.cli.tree",
    "postmill.cli.upping",
    "postmill.cli.working",
    "postmill.bench",
    "postmill.testing",
    "rich.progress",
    "tests.support.docs.notebook",
)

COMMAND = {
    "module": "postmill.cli.main", "function": "main", "code": "", "here": True,
    "session": False, "family": False, "desk": False,
}  # fmt: skip
"""What an order has that comes to a desk."""


def main(fd: int) -> None:
    """Until the other end of the socket is closed."""
    for name in WARM:
        _import(name)
    _rehearse()
    _open_hints()
    with socket.socket(fileno=fd) as orders:
        born = serve(orders)
    for pid in born:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def serve(orders: socket.socket) -> set[int]:
    """Fork as it is told, until the other end is closed; returns the children that were not waited for."""
    born: set[int] = set()
    gc.freeze()
    while True:
        text, given, _, _ = socket.recv_fds(orders, 1_000_000, 3)
        if not text:
            return born
        order = json.loads(text)
        if order["do"] == "run":
            for name in (*forking.modules_of(order), *_hints()):
                _import(name)
            pid = (_fork_away if order["adopt"] else _fork)(order, given, orders)
            for one in given:
                os.close(one)
            if not order["adopt"]:
                born.add(pid)
            answer: dict[str, Any] = {"pid": pid}
        else:
            code = _code(order["pid"])
            if code is not None:
                born.discard(order["pid"])
            answer = {"code": code}
        orders.send(json.dumps(answer).encode())


def _import(name: str) -> None:
    """Have it for all that are forked from now on; whoever is and cannot have it fails on it again, and says so."""
    if name in sys.modules:
        return
    with contextlib.suppress(Exception):
        package = importlib.import_module(name)
        if name.endswith(".jobs"):
            # A worker collects the handlers of each module below.
            for module in pkgutil.iter_modules(getattr(package, "__path__", ()), f"{name}."):
                importlib.import_module(module.name)
        elif hasattr(package, "__path__"):
            importlib.import_module(f"{name}.__main__")
    gc.freeze()
    if os.getpid() != _first:
        os.write(_HINTS, f"{name}\n".encode())


_first = os.getpid()
_HINTS = 300
"""The descriptor by which zygotes below this one tell what they had to import: the next one will have it at once."""


def _open_hints() -> None:
    """Above all descriptors that are closed after a fork."""
    for target, end in zip((_HINTS + 1, _HINTS), os.pipe(), strict=True):
        os.dup2(end, target)
        os.close(end)
    os.set_blocking(_HINTS + 1, False)


def _hints() -> list[str]:
    with contextlib.suppress(BlockingIOError):
        return os.read(_HINTS + 1, 65536).decode().split() if os.getpid() == _first else []
    return []


def _rehearse() -> None:
    """Typer builds its whole tree for each command, which takes longer than most of them: once is enough."""
    import typer.main

    from postmill.cli.main import main
    from postmill.cli.tree import app

    typer.main.get_command = cache(typer.main.get_command)
    _import_all(typer.main.get_command(app))
    sys.argv = ["postmill", "--version"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()


def _import_all(command: Any) -> None:
    """A command is imported when it is asked for its parameters."""
    for child in getattr(command, "commands", {}).values():
        _import_all(child)
    command.params  # noqa: B018


def _fork(order: dict[str, Any], given: list[int], orders: socket.socket) -> int:
    pid = os.fork()
    if pid == 0:
        orders.close()
        _become(order, given)
    return pid


def _fork_away(order: dict[str, Any], given: list[int], orders: socket.socket) -> int:
    """Fork a grandchild whose parent is gone when this returns: the subreaper above has it then."""
    near, far = os.pipe()
    between = os.fork()
    if between == 0:
        os.write(far, _fork(order, given, orders).to_bytes(4, "big"))
        os._exit(0)
    os.close(far)
    os.waitpid(between, 0)
    pid = int.from_bytes(os.read(near, 4), "big")
    os.close(near)
    return pid


def _code(pid: int) -> int | None:
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def _become(order: dict[str, Any], given: list[int]) -> None:
    """Be the process that the order describes; never returns."""
    code = 1
    try:
        if order["session"]:
            os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for target, one in enumerate(given):
            os.dup2(one, target)
        os.closerange(3, 256)
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["env"])
        _open_streams(unbuffered=bool(order["env"].get("PYTHONUNBUFFERED")))
        sys.argv = list(order["argv"])
        _set_path(order)
        random.seed()
        if order["family"]:
            forking.install(forking.nursery(serve))
        if order["desk"]:
            desk.open_desk(lambda asked, streams: _become({**COMMAND, **asked}, streams))
        _run(order)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(BaseException):
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _open_streams(*, unbuffered: bool) -> None:
    """As an interpreter that starts has them: what the zygote knows of its own is wrong for these."""
    for number, (name, errors) in enumerate(
        (("stdin", "strict"), ("stdout", "strict"), ("stderr", "backslashreplace"))
    ):
        raw = open(number, "wb" if number else "rb", 0 if number and unbuffered else -1, closefd=False)  # noqa: SIM115
        at_once = number == 2 or os.isatty(number)
        stream = io.TextIOWrapper(raw, "utf-8", errors, line_buffering=at_once, write_through=unbuffered)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _set_path(order: dict[str, Any]) -> None:
    """As an interpreter that starts has it: the folder, PYTHONPATH, and the rest."""
    more = [one for one in order["env"].get("PYTHONPATH", "").split(os.pathsep) if one not in ("", *sys.path)]
    sys.path[:0] = [order["folder"], *more] if order["here"] else more


def _run(order: dict[str, Any]) -> None:
    if order["function"]:
        getattr(importlib.import_module(order["module"]), order["function"])()
    else:
        forking.be_main(order["module"], order["code"])


if __name__ == "__main__":
    main(int(sys.argv[1]))
