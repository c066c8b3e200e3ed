"""Sending calls from code that blocks."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import httpx

from postmill.http.answers import answer, is_answer
from postmill.http.call import Call, params
from postmill.http.files import CHUNK, Part
from postmill.http.following import page_after
from postmill.http.trying import Tries
from postmill.shapes.paging import Page

P = ParamSpec("P")
T = TypeVar("T")


class Wire:
    """Connections to one server, and how long requests are tried again."""

    def __init__(self, connections: httpx.Client, timeout: float, retry_for: float) -> None:
        self._connections = connections
        self._timeout = timeout
        self._retry_for = retry_for

    def send(self, call: Call[T]) -> T:
        """The answer to a call."""
        return answer(call, self._tried(call, self._connections.send))

    def save(self, call: Call[bytes], path: Path) -> None:
        """The content that a call answers, as a file."""

        def exchange(request: httpx.Request) -> httpx.Response:
            response = self._connections.send(request, stream=True)
            try:
                if not is_answer(call, response):
                    response.read()
                    return response
                with Part(path) as part:
                    for chunk in response.iter_bytes(CHUNK):
                        part.write(chunk)
                    part.done(response)
                return response
            finally:
                response.close()

        self._tried(call, exchange)

    def close(self) -> None:
        """Closes the connections."""
        self._connections.close()

    def _tried(
        self, call: Call[object], exchange: Callable[[httpx.Request], httpx.Response]
    ) -> httpx.Response:
        tries = Tries(call, self._retry_for)
        while True:
            try:
                response = exchange(self._request(call))
            except httpx.RequestError as fault:
                time.sleep(tries.after_failure(fault))
                continue
            pause = tries.after_answer(response)
            if pause is None:
                return response
            time.sleep(pause)

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


class Group:
    """Operations on one kind of thing."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire


def blocking(build: Callable[P, Call[T]]) -> Callable[Concatenate[Group, P], T]:
    """A method that sends what `build` makes, and returns the answer."""

    @functools.wraps(build)
    def method(self: Group, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._wire.send(build(*args, **kwargs))

    return method


def following(build: Callable[P, Call[Page[T]]]) -> Callable[Concatenate[Group, P], Iterator[T]]:
    """A method that iterates over the items of every page, from the one that `build` asks for on."""

    @functools.wraps(build)
    def method(self: Group, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        call: Call[Page[T]] | None = build(*args, **kwargs)
        while call is not None:
            page = self._wire.send(call)
            yield from page.items
            call = page_after(call, page)

    return method


def saving(
    build: Callable[P, Call[bytes]],
) -> Callable[Concatenate[Group, Path | str, P], None]:
    """A method that writes the content that `build` asks for to the file of its first argument."""

    @functools.wraps(build)
    def method(self: Group, path: Path | str, /, *args: P.args, **kwargs: P.kwargs) -> None:
        self._wire.save(build(*args, **kwargs), Path(path))

    return method


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
