"""The module that the tests work with."""

from __future__ import annotations

from pathlib import Path

JOBS = '''
import asyncio
import os
import signal
import time

from postmill import Context, job


@job
async def greet(ctx: Context, name: str, times: int = 1, loud: bool = False) -> str:
    """Greets."""
    for n in range(times):
        ctx.progress(n, times, f"greeting {name}")
        await asyncio.sleep(0.01)
    return f"Hello {name}" + ("!" if loud else "")


@job(max_attempts=1)
async def fail(why: str = "no luck") -> None:
    raise ValueError(why)


@job
async def nap(seconds: float, started: str = "") -> str:
    if started:
        open(started, "w").close()
    await asyncio.sleep(seconds)
    return "rested"


@job(queue="high")
def who() -> int:
    print("a handler prints")
    time.sleep(0.05)
    return os.getpid()


@job(queue="high")
def kill_me() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
'''


def write_jobs(folder: Path) -> Path:
    """The module that the tests work with."""
    file = folder / "jobs.py"
    file.write_text(JOBS)
    return file
