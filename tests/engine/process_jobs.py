"""The handlers that tests run in child processes; imported there by name."""

# ruff: noqa: T201 - what handlers print is looked at

from __future__ import annotations

import asyncio
import ctypes
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from postmill.domain import signals
from postmill.domain.classify import Classifier
from postmill.domain.job_type import job

if TYPE_CHECKING:
    from postmill.engine.context import Context


class Rejected(ConnectionError):
    """An HTTP client's kind of error."""

    def __init__(self, status: int) -> None:
        super().__init__(f"answer {status}")
        self.status_code = status
        self.retry_after = "17"


class Unreadable(Exception):
    """Nothing about it works."""

    def __str__(self) -> str:
        raise KeyboardInterrupt

    def __getattr__(self, name: str) -> NoReturn:
        raise SystemExit(name)

    def __reduce__(self) -> NoReturn:
        raise RuntimeError


@job("add", aliases=("plus",))
def add(a: int, b: int = 1) -> int:
    print("adding", a, b)
    return a + b


@job
async def wait_and_echo(value: Any) -> Any:
    print("to stderr", file=sys.stderr)
    await asyncio.sleep(0)
    return value


@job
def nothing() -> None:
    pass


@job
def large(size: int) -> dict[str, str]:
    return {"text": "é" * (size // 2)}


@job
def unstorable(kind: str) -> Any:
    deep: list[Any] = []
    for _ in range(250):
        deep = [deep]
    made = {
        "object": object(),
        "nan": [1.0, float("nan")],
        "nul": {"a": "x\0"},
        "deep": deep,
        "lone": "\ud800",
    }
    return made[kind]


@job(classifier=Classifier().permanent(Rejected))
def reject(status: int) -> None:
    raise Rejected(status)


@job
def fail(kind: str, size: int = 0) -> None:
    if kind == "huge":
        raise RuntimeError("head" + "\N{PILE OF POO}" * (size // 4) + "tail")
    if kind == "unreadable":
        raise Unreadable
    if kind == "group":
        raise ExceptionGroup("several", [ValueError("a"), OSError(13, "b")])
    if kind == "exit":
        sys.exit(3)
    if kind == "interrupt":
        raise KeyboardInterrupt
    if kind == "system":
        Path("/no such file").read_text()
    if kind == "surrogate":
        raise ValueError("a\ud800b\0c")
    if kind == "memory":
        bytearray(4 << 30)


@job
async def afail() -> None:
    raise SystemExit("from a coroutine")


@job
async def decide(kind: str) -> None:
    made: dict[str, BaseException] = {
        "retry": signals.Retry("later", 3600),
        "snooze": signals.Snooze(5, "not now"),
        "cancel": signals.Cancel("no need"),
        "bury": signals.Bury("gone"),
        "fail": signals.Fail("wrong"),
        "canceled": signals.Canceled("stop"),
        "group": ExceptionGroup("tasks", [ValueError("x"), signals.Snooze(7)]),
    }
    raise made[kind]


@job
def die(how: str) -> None:
    print("last words")
    if how == "exit":
        os._exit(0)
    if how == "exit 3":
        os._exit(3)
    if how == "segv":
        ctypes.string_at(0)
    os.kill(os.getpid(), int(how))


@job
def careless(kind: str) -> str:
    """Returns all the same."""
    if kind == "fork":
        if os.fork() == 0:
            return "from the copy"  # runs back into our own code
        os.wait()
    if kind == "pool":
        with multiprocessing.get_context("fork").Pool(2) as pool:  # ends its processes by SIGTERM
            pool.map(abs, [1, 2])
    if kind == "binary":
        os.write(1, bytes(range(256)) * 4)
        print("\ud800")
    if kind == "close":
        for fd in (0, 1, 2):
            os.close(fd)
    if kind == "thread":
        threading.Thread(target=time.sleep, args=(600,)).start()
    if kind == "replace":
        sys.stdout = sys.stderr = None
    if kind == "chdir":
        os.chdir("/")
        sys.path.clear()
        os.environ.clear()
    if kind == "signals":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return kind


@job
async def careless_fork() -> str:
    if os.fork() == 0:
        return "from the copy"
    os.wait()
    return "from the handler"


@job
def close_everything() -> None:
    os.closerange(3, 256)


@job
def babble() -> None:
    """Writes to a descriptor that is not its own."""
    with socket.socket(fileno=int(sys.argv[1])) as link:
        link.sendall(b"\xff" * 64)
        time.sleep(600)


@job
def spawn(folder: str, leave: bool) -> None:
    """Processes that stay behind, one of them in a session of its own."""
    stay = [subprocess.Popen(["sleep", "600"]), subprocess.Popen(["sleep", "600"], start_new_session=True)]
    Path(folder, "pids").write_text("\n".join(str(process.pid) for process in stay))
    if not leave:
        time.sleep(600)
    for process in stay:
        process.returncode = 0  # so that nothing complains about it


@job
def sleep(folder: str) -> None:
    Path(folder, "up").touch()
    time.sleep(600)


@job
def spin(folder: str) -> None:
    Path(folder, "up").touch()
    while True:
        pass


@job
def obedient(ctx: Context, folder: str) -> None:
    Path(folder, "up").touch()
    while not ctx.cancel_requested:
        time.sleep(0.01)
    Path(folder, "out").write_text("stopping")
    ctx.checkpoint()


@job
async def tidy(folder: str) -> None:
    try:
        Path(folder, "up").touch()
        await asyncio.sleep(600)
    finally:
        await asyncio.sleep(0.3)
        Path(folder, "out").write_text("cleaned up")


@job
async def swallow(folder: str, then: str) -> str:
    while True:
        try:
            Path(folder, "up").touch()
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            if then == "return":
                return "finished all the same"
            if then == "snooze":
                raise signals.Snooze(3) from None
            if then == "fail":
                raise ValueError("clean-up failed") from None


@job
async def leave_tasks(folder: str) -> str:
    async def background() -> None:
        try:
            await asyncio.sleep(600)
        finally:
            Path(folder, "out").write_text("task ended")

    leave_tasks.__dict__["kept"] = asyncio.create_task(background())
    await asyncio.sleep(0)
    return "answer"


@job(log_fields=["item"])
def report(ctx: Context, item: int = 7) -> dict[str, Any]:
    for done in range(1000):
        ctx.progress(done, 1000, f"step {done}")
    ctx.log.info("a line", step=3)
    return {
        "attempt": ctx.attempt,
        "run": ctx.job.run,
        "id": str(ctx.job.id),
        "queue": ctx.job.queue,
        "deadline": ctx.deadline is not None,
        "cancel_requested": ctx.cancel_requested,
        "argv": sys.argv,
        "environ": dict(os.environ),
        "path": sys.path,
        "fds": sorted(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "main": threading.current_thread() is threading.main_thread(),
        "session": os.getsid(0) == os.getpid(),
    }
