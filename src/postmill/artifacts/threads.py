"""Blocking work for a coroutine: in a thread, and waited for to its end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """What `work` returns. A cancellation is passed on when the thread has ended: it may hold a file that is to go."""
    call = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(call)
    except asyncio.CancelledError:
        while not call.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({call})
        if not call.cancelled():
            call.exception()  # nobody else will ask
        raise
