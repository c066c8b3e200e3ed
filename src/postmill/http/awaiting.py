"""Sending calls from code that awaits: as `blocking` does."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx

from postmill.artifacts.threads import in_thread
from postmill.http.answers import answer, is_answer
from postmill.http.call import Call, params
from postmill.http.files import CHUNK, Part
from postmill.http.following import page_after
from postmill.http.trying import Tries
from postmill.shapes.paging import Page

P = ParamSpec("P")
T = TypeVar("T")


class AsyncWire:
    """Connections to one server, and how long requests are tried again."""

    def __init__(self, connections: httpx.AsyncClient, timeout: float, retry_for: float) -> None:
        self._connections = connections
        self._timeout = timeout
        self._retry_for = retry_for

    async def send(self, call: Call[T]) -> T:
        """The answer to a call."""
        return answer(call, await self._tried(call, self._connections.send))

    async def save(self, call: Call[bytes], path: Path) -> None:
        """The content that a call answers, as a file."""

        async def exchange(request: httpx.Request) -> httpx.Response:
            response = await self._connections.send(request, stream=True)
            try:
                if not is_answer(call, response):
                    await response.aread()
                    return response
                with Part(path) as part:
                    async for chunk in response.aiter_bytes(CHUNK):
                        await in_thread(partial(part.write, chunk))
                    await in_thread(partial(part.done, response))
                return response
            finally:
                await response.aclose()

        await self._tried(call, exchange)

    async def close(self) -> None:
        """Closes the connections."""
        await self._connections.aclose()

    async def _tried(
        self, call: Call[object], exchange: Callable[[httpx.Request], Awaitable[httpx.Response]]
    ) -> httpx.Response:
        tries = Tries(call, self._retry_for)
        while True:
            try:
                response = await exchange(self._request(call))
            except httpx.RequestError as fault:
                await asyncio.sleep(tries.after_failure(fault))
                continue
            pause = tries.after_answer(response)
            if pause is None:
                return response
            await asyncio.sleep(pause)

    def _request(self, call: Call[object]) -> httpx.Request:
        content = _read(call.content) if isinstance(call.content, Path) else call.content
        return self._connections.build_request(
            call.method,
            call.path,
            params=params(call),
            headers=dict(call.headers),
            content=content,
            timeout=httpx.Timeout(self._timeout, read=self._timeout + call.patience),
        )


class AsyncGroup:
    """Operations on one kind of thing."""

    def __init__(self, wire: AsyncWire) -> None:
        self._wire = wire


def awaiting(build: Callable[P, Call[T]]) -> Callable[Concatenate[AsyncGroup, P], Coroutine[Any, Any, T]]:
    """A coroutine method that sends what `build` makes, and returns the answer."""

    @functools.wraps(build)
    async def method(self: AsyncGroup, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._wire.send(build(*args, **kwargs))

    return method


def following(build: Callable[P, Call[Page[T]]]) -> Callable[Concatenate[AsyncGroup, P], AsyncIterator[T]]:
    """A method that iterates asynchronously over the items of every page, from the one that `build` asks for on."""

    @functools.wraps(build)
    async def method(self: AsyncGroup, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        call: Call[Page[T]] | None = build(*args, **kwargs)
        while call is not None:
            page = await self._wire.send(call)
            for item in page.items:
                yield item
            call = page_after(call, page)

    return method


def saving(
    build: Callable[P, Call[bytes]],
) -> Callable[Concatenate[AsyncGroup, Path | str, P], Coroutine[Any, Any, None]]:
    """A coroutine method that writes the content that `build` asks for to the file of its first argument."""

    @functools.wraps(build)
    async def method(self: AsyncGroup, path: Path | str, /, *args: P.args, **kwargs: P.kwargs) -> None:
        await self._wire.save(build(*args, **kwargs), Path(path))

    return method


async def _read(path: Path) -> AsyncIterator[bytes]:
    with await in_thread(lambda: path.open("rb")) as file:
        while chunk := await in_thread(lambda: file.read(CHUNK)):
            yield chunk
