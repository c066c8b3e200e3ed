"""A request to an application by hand: the client may go whenever the test wants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any

from fastapi import FastAPI

Message = MutableMapping[str, Any]


class Call:
    """One POST below /api/v1. `leave()` closes the connection; with `breaks` it breaks as the answer is sent."""

    def __init__(self, app: FastAPI, path: str, key: str, body: Any, *, breaks: bool = False) -> None:
        self._app = app
        self._body = json.dumps(body).encode()
        self._breaks = breaks
        self._left = asyncio.Event()
        self._asked = False
        self.sent: list[Message] = []
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": f"/api/v1{path}",
            "raw_path": f"/api/v1{path}".encode(),
            "root_path": "",
            "query_string": b"",
            "client": ("127.0.0.1", 1),
            "server": ("api.test", 80),
            "headers": [
                (b"authorization", f"Bearer {key}".encode()),
                (b"content-type", b"application/json"),
                (b"content-length", str(len(self._body)).encode()),
            ],
        }

    def leave(self) -> None:
        """The client closes its connection."""
        self._left.set()

    async def run(self) -> None:
        """The request, to its end."""
        await self._app(self._scope, self._receive, self._send)

    async def _receive(self) -> Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self._breaks:
            raise BrokenPipeError("the client is gone")
        self.sent.append(message)
