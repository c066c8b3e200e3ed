"""Runs a coroutine in a child process: cancelled once by SIGTERM, answered for as soon as it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from postmill.domain.signals import Canceled
from postmill.engine.child_link import ChildLink

Ended = Callable[[BaseException | None, object], None]


def run(handler: Coroutine[Any, Any, object], link: ChildLink, ended: Ended) -> None:
    """Run it by `asyncio.run`, which also ends what it left on the loop, after `ended` was told.

    SystemExit and KeyboardInterrupt of the handler are raised; asyncio lets them through.
    """
    asyncio.run(_run(handler, link, ended))


async def _run(handler: Coroutine[Any, Any, object], link: ChildLink, ended: Ended) -> None:
    loop = asyncio.get_running_loop()
    task = loop.create_task(handler)
    link.on_stop = lambda: loop.call_soon_threadsafe(task.cancel)
    if link.stopping():
        task.cancel()
    try:
        await asyncio.wait({task})
    finally:
        link.on_stop = None
    try:
        result = task.result()
    except asyncio.CancelledError as error:
        ended(Canceled().with_traceback(error.__traceback__) if link.stopping() else error, None)
    except BaseException as error:
        ended(error, None)
    else:
        ended(None, result)
