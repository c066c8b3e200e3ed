"""As much of HTTP/1.1 as scrapes and probes need: one request, one answer, then the connection is closed."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from http import HTTPStatus

MAX_HEADERS = 100

_REQUEST_LINE = re.compile(rb"([A-Z]{1,16}) (\S{1,2048}) HTTP/1\.[01]\r?\n")


class BadRequest(Exception):
    """What came in is no request that we read; `status` is the answer's."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class Response:
    """An answer: status, body and its type."""

    status: int
    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    extra: tuple[str, ...] = ()

    def encode(self, *, head: bool = False) -> bytes:
        """The answer's bytes, without the body for HEAD."""
        lines = (
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}",
            f"Content-Type: {self.content_type}",
            f"Content-Length: {len(self.body)}",
            "Cache-Control: no-store",
            "X-Content-Type-Options: nosniff",
            "Connection: close",
            *self.extra,
        )
        return "\r\n".join((*lines, "", "")).encode("latin-1") + (b"" if head else self.body)


async def read_request(reader: asyncio.StreamReader) -> tuple[str, str]:
    """Method and path (without the query) of the next request; headers are read over.

    Raises BadRequest for anything else, IncompleteReadError if the client leaves.
    """
    match = _REQUEST_LINE.fullmatch(await _line(reader))
    if match is None:
        raise BadRequest(400, "not an HTTP/1.1 request")
    for _ in range(MAX_HEADERS):
        if await _line(reader) in (b"\r\n", b"\n"):
            return match[1].decode("ascii"), match[2].split(b"?", 1)[0].decode("latin-1")
    raise BadRequest(431, "too many headers")


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\n")
    except asyncio.LimitOverrunError:
        raise BadRequest(431, "a line is too long") from None
