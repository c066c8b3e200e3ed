"""Answers that must not get lost: where the client has gone, what the answer holds is given back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from fastapi import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class Client:
    """Watches whether the client of a request is still there; its body must have been read."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.gone.set()


@contextlib.asynccontextmanager
async def watched(request: Request) -> AsyncIterator[Client]:
    """The client of this request, watched until the end of the block."""
    client = Client()
    watch = asyncio.create_task(client._watch(request.receive))
    try:
        yield client
    finally:
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)


class Delivered(Response):
    """JSON; `undelivered` is run where the connection breaks while it is sent.

    What the client does not tell, a broken wire behind a full buffer, is for the leases to find.
    """

    media_type = "application/json"

    def __init__(self, body: bytes, undelivered: Callable[[], Awaitable[None]]) -> None:
        super().__init__(body)
        self._undelivered = undelivered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except (OSError, asyncio.CancelledError):
            await asyncio.shield(asyncio.ensure_future(self._undelivered()))
            raise
