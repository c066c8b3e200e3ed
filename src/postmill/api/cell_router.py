"""One server for all cells: each request goes to the application of the cell in which its tenant lives.

An application works on one database, as if there were no other. What is about cells themselves goes to that of the
directory. For all else this decides by, in this order: the cell that
the request names (`?cell=` or the header `Postmill-Cell`), the webhook or the credentials it comes with, the cell that a browser
chose before, the directory's cell. Whoever comes in is authenticated and kept within his tenant by that application only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AsyncExitStack
from http.cookies import CookieError, SimpleCookie
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from fastapi import FastAPI
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from postmill.api.backend import Backend
from postmill.api.cookies import COOKIE
from postmill.api.guard import FAULT
from postmill.api.problems import MEDIA_TYPE
from postmill.api.tokens import claimed
from postmill.bind import arun
from postmill.domain.secret import KEY_PREFIX, hashed
from postmill.domain.suggest import did_you_mean
from postmill.store.cells import find_credential, find_place, has_webhook

HEADER = "Postmill-Cell"
PARAMETER = "cell"
CHOSEN = "postmill_cell"
"""The cookie of a browser that has chosen a cell."""

KNOWN_FOR = 5.0
MOST = 10_000
_WEBHOOK = re.compile(r"/webhooks/([0-9a-fA-F-]{36})$")
_OF_DIRECTORY = re.compile(r"/api/v1/(cells(/.*)?|tenants/[^/]+/(cell|move))$")
_FORM_TOKEN = re.compile(rb"(?:^|&)token=([^&]{1,300})")
_LOGIN_BODY = 65536


class CellRouter:
    """An ASGI application over those of the cells.

    Args:
        apps: the application of each cell, on its own database.
        home: the cell that holds the directory.
        tenant_claim: the claim of a provider's token that names the tenant.
    """

    def __init__(self, apps: Mapping[str, FastAPI], home: str, tenant_claim: str = "tenant") -> None:
        self.apps = dict(apps)
        self.home = home
        self._claim = tenant_claim
        self._known: dict[bytes, tuple[str, float]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        headers = Headers(scope=scope)
        named, scope["query_string"] = _without_cell(scope["query_string"])
        asked = headers.get(HEADER) or named
        if asked is not None and asked not in self.apps:
            await _unknown(asked, self.apps)(scope, receive, send)
            return
        receive, secret = await _secret(scope, headers, receive)
        try:
            cell = await self._cell(scope, headers, secret, asked)
        except Exception as error:
            cell, scope[FAULT] = self.home, error
        await self.apps[cell](scope, receive, self._answering(send, cell, secret, named))

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with AsyncExitStack() as stack:
            try:
                for app in self.apps.values():
                    await stack.enter_async_context(app.router.lifespan_context(app))
            except Exception as fault:
                await send({"type": "lifespan.startup.failed", "message": str(fault)})
                raise
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _cell(self, scope: Scope, headers: Headers, secret: str | None, asked: str | None) -> str:
        if _OF_DIRECTORY.search(scope["path"]):
            return self.home
        if asked is not None:
            return asked
        hook = _WEBHOOK.search(scope["path"])
        if hook is not None and scope["method"] == "POST":
            return await self._of_webhook(hook[1])
        if secret is not None:
            return await self._of_secret(secret)
        chosen = _cookie(headers, CHOSEN)
        return chosen if chosen in self.apps else self.home

    async def _of_webhook(self, text: str) -> str:
        try:
            id = UUID(text)
        except ValueError:
            return self.home
        for cell, app in self.apps.items():
            if await _ask(app, lambda schema: has_webhook(id, schema=schema)):
                return cell
        return self.home

    async def _of_secret(self, secret: str) -> str:
        key = hashed(secret)
        known = self._known.get(key)
        if known is not None and known[1] > monotonic():
            return known[0]
        cell = await self._look(secret, key)
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[key] = (cell, monotonic() + KNOWN_FOR)
        return cell

    async def _look(self, secret: str, key: bytes) -> str:
        name = None if secret.startswith(KEY_PREFIX) else claimed(secret, self._claim)
        if name is not None:
            return await self._place(name)
        found: str | None = None
        for cell in sorted(self.apps, key=lambda cell: cell != self.home):
            there, tenant = await _ask(self.apps[cell], lambda schema: find_credential(key, schema=schema))
            if there and tenant is not None:
                return await self._place(str(tenant))
            found = found or (cell if there else None)
        return found or self.home

    async def _place(self, tenant: str) -> str:
        cell: str | None = await _ask(self.apps[self.home], lambda schema: find_place(tenant, schema=schema))
        return cell if cell in self.apps else self.home

    def _answering(self, send: Send, cell: str, secret: str | None, named: str | None) -> Send:
        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                if message["status"] in (401, 503) and secret is not None:
                    self._known.pop(hashed(secret), None)
                headers = MutableHeaders(scope=message)
                headers[HEADER] = cell
                if named is not None and headers.get("content-type", "").startswith("text/html"):
                    headers.append("set-cookie", f"{CHOSEN}={cell}; Path=/; HttpOnly; SameSite=Lax")
            await send(message)

        return answered


async def _ask(app: FastAPI, make: Any) -> Any:
    backend: Backend = app.state.backend
    async with backend.pool.connection() as conn:
        return await arun(conn, make(backend.schema))


async def _secret(scope: Scope, headers: Headers, receive: Receive) -> tuple[Receive, str | None]:
    """What the request shows of who asks: a bearer, the cookie of a login, or what logs in."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return receive, token.strip()
    if scope["path"].endswith("/login"):
        if scope["method"] == "POST":
            receive, body = await _read(receive)
            found = _FORM_TOKEN.search(body)
            if found is not None:
                return receive, dict(parse_qsl("token=" + found[1].decode("latin-1"))).get("token")
        else:
            token = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", "")
            if token:
                return receive, token
    return receive, _cookie(headers, COOKIE)


async def _read(receive: Receive) -> tuple[Receive, bytes]:
    """The small body of a login, and a way to read it once more."""
    messages: list[Message] = []
    body = b""
    while len(body) < _LOGIN_BODY:
        messages.append(await receive())
        body += messages[-1].get("body", b"")
        if not messages[-1].get("more_body"):
            break

    async def again() -> Message:
        return messages.pop(0) if messages else await receive()

    return again, body


def _without_cell(query: bytes) -> tuple[str | None, bytes]:
    """The cell that a query names, and the query without it, which no route knows."""
    if PARAMETER.encode() not in query:
        return None, query
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, encoding="utf-8")
    named = [value for key, value in pairs if key == PARAMETER]
    rest = urlencode([(key, value) for key, value in pairs if key != PARAMETER])
    return (named[-1] if named else None), (rest.encode() if named else query)


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return found.value if found is not None else None


def _unknown(name: str, known: Mapping[str, FastAPI]) -> JSONResponse:
    document = {
        "type": "urn:postmill:problem:unknown-cell",
        "title": "unknown cell",
        "status": 404,
        "detail": f"there is no cell {name[:40]!r}{did_you_mean(name, known, noun='cells')}",
    }
    return JSONResponse(document, 404, media_type=MEDIA_TYPE)
