"""Helpers for tests of commands and child processes: both event loops, Python as a command, what is left behind."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest
import uvloop

from postmill.engine.child_spec import ChildResult, ChildSpec
from postmill.engine.command import Command, CommandResult, run_command
from postmill.engine.process import run_in_child
from tests.support.eventually import eventually

T = TypeVar("T")
Run = Callable[[Coroutine[Any, Any, Any]], Any]

both_loops = pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])

# The first loop of uvloop opens a pipe for signals that stays for good: no test is to be blamed for it.
uvloop.run(asyncio.sleep(0))

JOBS = "tests.engine.process_jobs"


def python(code: str, *args: str, **options: Any) -> Command:
    """A command that runs this code."""
    return Command((sys.executable, "-I", "-S", "-c", code, *args), **options)


async def shell(script: str, **options: Any) -> CommandResult:
    """Run a script of bash as a command."""
    return await run_command(Command(("bash", "-c", script), **options))


async def in_child(job_type: str, payload: str = "{}", **options: Any) -> ChildResult:
    """Run one of `process_jobs` in a child."""
    limits = {
        name: options.pop(name, default)
        for name, default in (("timeout", None), ("grace", 5.0), ("cancel", None), ("on_progress", None))
    }
    spec: dict[str, Any] = {"modules": (JOBS,), "context": {}, "conninfo": "dbname=nowhere"} | options
    return await run_in_child(ChildSpec(job_type=job_type, payload=payload.encode(), **spec), **limits)


async def limited(calls: list[Callable[[], Awaitable[T]]], most: int = 4) -> list[T]:
    """All results, with at most so many under way at a time."""
    gate = asyncio.Semaphore(most)

    async def one(call: Callable[[], Awaitable[T]]) -> T:
        async with gate:
            return await call()

    return list(await asyncio.gather(*map(one, calls)))


def pids_in(path: Path) -> list[int]:
    """The process ids that a script wrote to a file, one a line."""
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def gone(pids: list[int]) -> bool:
    """Does none of these processes exist, not even as a zombie?"""
    return not any(psutil.pid_exists(pid) for pid in pids)


def wait_ended(pids: list[int]) -> None:
    """Wait until none of these orphans runs. Init may take its time to reap those that it has inherited."""
    assert pids
    eventually(lambda: not any(map(_runs, pids)), 10, f"the end of {pids}")


def _runs(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE or process.ppid() != 1
    except psutil.NoSuchProcess:
        return False


def offspring(*, recursive: bool = True) -> list[psutil.Process]:
    """The children of this process, without the server and the helpers that the tests share."""
    found = []
    for child in psutil.Process().children():
        if child.name() != "postgres" and "tests.support" not in " ".join(child.cmdline()):
            found += [child, *(child.children(recursive=True) if recursive else [])]
    return found
