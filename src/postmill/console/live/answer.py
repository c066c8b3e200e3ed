"""A stream as the answer to a request: server-sent events (WHATWG HTML, section 9.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from postmill.console.live.stream import OVER, Stream

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
]


class LiveAnswer(Response):
    """Sends pings, `data: ["jobs:<scope>",1873]`, until the browser goes, the login ends or the server does.

    Args:
        stream: what to send.
        holds: whether whoever reads it still may.
        left: called at the end.
        heartbeat, recheck: see Hub.
    """

    def __init__(
        self,
        stream: Stream,
        holds: Callable[[], Awaitable[bool]],
        left: Callable[[], Awaitable[None]],
        *,
        heartbeat: float,
        recheck: float,
    ) -> None:
        super().__init__()
        self._stream = stream
        self._holds = holds
        self._left = left
        self._heartbeat = heartbeat
        self._recheck = recheck

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers."""
        gone = asyncio.create_task(self._gone(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
            await _say(send, b"retry: 3000\n\n")
            await self._tell(send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except OSError:
            pass  # the browser went while something was sent
        finally:
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)
            await self._left()

    async def _tell(self, send: Send) -> None:
        looked = monotonic()
        while not self._stream.closed:
            pings = await self._stream.next(min(self._heartbeat, self._recheck))
            if self._stream.doubted or monotonic() - looked >= self._recheck:
                self._stream.doubted = False
                if not await self._holds():
                    await _say(send, _events({OVER: 0}))
                    return
                looked = monotonic()
            await _say(send, _events(pings) if pings else b":\n\n")

    async def _gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._stream.close()


def _events(pings: dict[str, int]) -> bytes:
    return b"".join(b"data: " + orjson.dumps(ping) + b"\n\n" for ping in pings.items())


async def _say(send: Send, text: bytes) -> None:
    await send({"type": "http.response.body", "body": text, "more_body": True})
