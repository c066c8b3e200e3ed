"""Waiting for a guarded program without ever leaving it behind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from postmill.engine.child_supervisor import Guarded

T = TypeVar("T")


async def to_the_end(run: Coroutine[Any, Any, T], guarded: Guarded) -> T:
    """Await `run`, which is about `guarded`, to its end, even if the caller is cancelled meanwhile.

    The first cancellation stops the program (SIGTERM, then SIGKILL after its grace period), the second kills it; only
    when it is gone does CancelledError go on its way.
    """
    task = asyncio.ensure_future(run)
    cancelled: asyncio.CancelledError | None = None
    while True:
        try:
            result = await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.done():
                raise
            (guarded.stop if cancelled is None else guarded.kill)()
            cancelled = error
        except BaseException:
            if cancelled is not None:
                raise cancelled from None
            raise
        else:
            if cancelled is not None:
                raise cancelled
            return result


@contextlib.asynccontextmanager
async def stopping_on(event: asyncio.Event | None, stop: Callable[[], object]) -> AsyncIterator[None]:
    """Call `stop` once `event` is set, if that happens inside the block."""
    if event is None:
        yield
        return

    async def watch() -> None:
        await event.wait()
        stop()

    watcher = asyncio.ensure_future(watch())
    try:
        yield
    finally:
        watcher.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watcher
