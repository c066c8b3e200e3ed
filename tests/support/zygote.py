"""A process that has imported everything and forks: a command costs milliseconds in place of most of a second.

Run as a program: `python -m tests.support.zygote FD`, FD being a SOCK_SEQPACKET socket. One JSON order at a time:
`run` (with three descriptors: stdin, stdout, stderr) forks and answers `{"pid": …}`; `wait` answers `{"code": …}`,
None while it still runs. It has one thread, so forking is safe, and ends with its parent.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import random
import signal
import socket
import sys
from typing import Any

WARM = (
    "postmill.cli.tree",
    "postmill.cli.upping",
    "postmill.cli.working",
    "postmill.bench",
    "postmill.testing",
    "rich.progress",
    "tests.support.docs.notebook",
)


def main(fd: int) -> None:
    """Until the other end of the socket is closed."""
    for name in WARM:
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(name)
    gc.freeze()
    born: set[int] = set()
    with socket.socket(fileno=fd) as orders:
        while True:
            text, given, _, _ = socket.recv_fds(orders, 1_000_000, 3)
            if not text:
                break
            order = json.loads(text)
            if order["do"] == "run":
                pid = os.fork()
                if pid == 0:
                    orders.close()
                    _become(order, given)
                for one in given:
                    os.close(one)
                born.add(pid)
                answer: dict[str, Any] = {"pid": pid}
            else:
                code = _code(order["pid"])
                if code is not None:
                    born.discard(order["pid"])
                answer = {"code": code}
            orders.send(json.dumps(answer).encode())
    for pid in born:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _code(pid: int) -> int | None:
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def _become(order: dict[str, Any], given: list[int]) -> None:
    """Be the process that the order describes; never returns."""
    code = 1
    try:
        os.setsid()
        for target, one in enumerate(given):
            os.dup2(one, target)
        os.closerange(3, 256)
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["env"])
        sys.argv = order["argv"]
        sys.path.insert(0, order["folder"])
        random.seed()
        getattr(importlib.import_module(order["module"]), order["function"])()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]))
