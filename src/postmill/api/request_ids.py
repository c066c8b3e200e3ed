"""Request ids: one for each request, in every answer, every job that it makes and every line of the audit log."""

from __future__ import annotations

from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = b"x-request-id"


class RequestIds:
    """Gives every request an id, takes over the caller's if it is decent, and answers with it.

    Decent: 1 to 100 printable ASCII characters.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        sent = next((value for name, value in scope["headers"] if name == HEADER), b"")
        decent = 0 < len(sent) <= 100 and sent.isascii() and sent.decode().isprintable()
        own = sent if decent else uuid4().hex.encode()
        scope.setdefault("state", {})["request_id"] = own.decode()

        async def with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message.get("headers", [])
                if not any(name == HEADER for name, _ in headers):
                    message["headers"] = [*headers, (HEADER, own)]
            await send(message)

        return await self.app(scope, receive, with_id)
