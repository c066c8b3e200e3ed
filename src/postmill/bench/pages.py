"""The pages of the console, as its application's table of routes has them, asked for within this process."""

from __future__ import annotations

import re
from time import perf_counter
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from postmill.bench.case import BenchError

NO_PAGES = ("/live", "/facets", "/file")
"""Streams, and what scripts and downloads ask for."""


def paths_of(app: FastAPI, slug: str, things: dict[str, str]) -> list[str]:
    """Every page, with what there is of `things` (by the part of the path before a parameter)."""

    def thing(found: re.Match[str]) -> str:
        before = found[1]
        value = slug if before == "t" else things.get(before)
        if value is None:
            raise BenchError(f"the console has a page of one of {before!r}, which this case has none of")
        return f"{before}/{quote(value, safe='')}"

    made = []
    for route in iter_route_contexts(app.routes):
        path = str(route.path_format)
        scoped = path.startswith(("/ops", "/t/{slug}"))
        if scoped and "GET" in (route.methods or ()) and not path.endswith(NO_PAGES):
            made.append(re.sub(r"([^/{}]+)/{[^}]*}", thing, path))
    return made


async def asked(app: FastAPI, path: str, key: str, tag: str = "") -> tuple[int, float, int, str]:
    """One request of somebody with an API key: status, seconds, bytes, and the tag by which it can be asked about again."""
    plain, _, query = path.partition("?")
    headers = [(b"host", b"bench"), (b"accept", b"text/html"), (b"authorization", f"Bearer {key}".encode()),
               (b"if-none-match", tag.encode())]  # fmt: skip
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http", "path": plain,
             "raw_path": plain.encode(), "query_string": query.encode(), "root_path": "", "headers": headers,
             "client": ("127.0.0.1", 1), "server": ("bench", 80)}  # fmt: skip
    status, size, found = 0, 0, ""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status, size, found
        if message["type"] == "http.response.start":
            status = message["status"]
            found = next((value.decode() for name, value in message["headers"] if name == b"etag"), "")
        else:
            size += len(message.get("body", b""))

    began = perf_counter()
    await app(scope, receive, send)
    return status, perf_counter() - began, size, found
