"""Job types that a child process imports by name."""

from __future__ import annotations

import asyncio
import os
import signal
import time

from postmill.domain.job_type import job
from postmill.domain.policy import Constant
from postmill.engine.context import Context


@job(isolation="process")
def whereami() -> int:
    """The process it runs in."""
    return os.getpid()


@job(isolation="process", max_attempts=3, retry=Constant(0.05))
def killer(signal_number: int = signal.SIGKILL) -> None:
    """Kills its own process."""
    os.kill(os.getpid(), signal_number)


@job(isolation="process", max_attempts=5)
async def awaited(ctx: Context) -> str:
    """A coroutine in a child; its effect and its success are one commit."""
    async with ctx.transaction() as tx:
        await tx.execute("insert into effect values ('child')")
        tx.result = "from the child"
    return "not this"


@job(isolation="process", timeout=0.5, max_attempts=1)
def sleepy() -> None:
    """Longer than its timeout."""
    time.sleep(60)


@job
async def innocent(seconds: float = 0.0) -> int:
    """Runs on the worker's loop, but for a suspect."""
    await asyncio.sleep(seconds)
    return os.getpid()
