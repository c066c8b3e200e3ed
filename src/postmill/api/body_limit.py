"""Bodies are bounded: nobody fills the server's memory."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from postmill.api.problems import Problem, answer

MOST = 1024 * 1024
"""Bytes of a request's body."""


class BodyLimit:
    """Answers 413 to a body above the limit: at once where its length is told, else as soon as it is passed.

    Args:
        app: what comes next.
        uploads: which requests bring files, that no one holds in memory.
        largest: bytes of such a file.
        most: bytes of all other bodies.
    """

    def __init__(
        self, app: ASGIApp, *, uploads: Callable[[Scope], bool], largest: int, most: int = MOST
    ) -> None:
        self.app = app
        self._uploads = uploads
        self._largest = largest
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        told = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        most = self._largest if self._uploads(scope) else self._most
        if told.isdigit() and int(told) > most:
            return await (await answer(Request(scope), _problem(most)))(scope, receive, send)
        came = 0

        async def counted() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > most:
                raise _problem(most)
            return message

        return await self.app(scope, counted, send)


def _problem(most: int) -> Problem:
    return Problem(413, "body-too-large", f"a body may have at most {most} bytes", limit=most)
