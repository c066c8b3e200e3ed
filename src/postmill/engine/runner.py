"""The one place that calls user code: a coroutine on the loop, a function in a thread, a suspect in a child."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from postmill.engine.context import Context
from postmill.engine.work import PAYLOAD, Handler, Work

Ended = Callable[[Work, BaseException | None, Any], None]
MakeContext = Callable[[Work], Context]

_EMPTY = b"\x01{}"


class Runner:
    """`ended(work, error, result)` is called once per run, on the loop."""

    def __init__(self, ended: Ended, make_context: MakeContext, threads: int) -> None:
        self._ended = ended
        self._make_context = make_context
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="postmill-job")

    async def coroutine(self, work: Work, handler: Handler) -> None:
        try:
            payload = work.row[PAYLOAD]
            if handler.guard is not None:
                payload = b"\x01" + await handler.guard.admit(work)
            if handler.plain and payload == _EMPTY:
                result = await handler.fn()
            else:
                result = await handler.fn(**self._arguments(work, handler, payload))
        except BaseException as error:
            self._ended(work, error, None)
        else:
            self._ended(work, None, result)

    async def thread(self, work: Work, handler: Handler) -> None:
        try:
            payload = work.row[PAYLOAD]
            if handler.guard is not None:
                payload = b"\x01" + await handler.guard.admit(work)
            arguments = self._arguments(work, handler, payload)
            context = contextvars.copy_context()
            loop = asyncio.get_running_loop()
            call = loop.run_in_executor(self._pool, _called, context, handler.fn, arguments)
            result = await _to_the_end(call, work)
        except BaseException as error:
            self._ended(work, error, None)
        else:
            self._ended(work, None, result)

    def _arguments(self, work: Work, handler: Handler, payload: bytes) -> dict[str, Any]:
        arguments = handler.bind(payload[1:])
        if handler.ctx_param is not None:
            work.ctx = self._make_context(work)
            arguments[handler.ctx_param] = work.ctx
        return arguments

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _called(context: contextvars.Context, fn: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    try:
        return context.run(fn, **arguments)
    except StopIteration as error:  # no future can carry it
        raise RuntimeError("the handler raised StopIteration") from error


async def _to_the_end(call: asyncio.Future[Any], work: Work) -> Any:
    """A thread cannot be killed: whatever cancels us, the job has ended only when its function has, or was abandoned."""
    while True:
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            if call.done():
                return call.result()
            if work.ended:  # nobody waits for it any more, and the loop could not end
                call.cancel()
                raise
