"""Bodies are bounded: nobody fills the server's memory."""

from __future__ import annotations

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from postmill.api.problems import Problem, answer

MOST = 1024 * 1024
"""Bytes of a request's body."""


class BodyLimit:
    """Answers 413 to a body above the limit: at once where its length is told, else as soon as it is passed."""

    def __init__(self, app: ASGIApp, *, most: int = MOST) -> None:
        self.app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        told = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if told.isdigit() and int(told) > self._most:
            return await answer(Request(scope), self._problem())(scope, receive, send)
        came = 0

        async def counted() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > self._most:
                raise self._problem()
            return message

        return await self.app(scope, counted, send)

    def _problem(self) -> Problem:
        return Problem(413, "body-too-large", f"a body may have at most {self._most} bytes", limit=self._most)
