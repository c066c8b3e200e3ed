"""As much of HTTP/1.1 as scrapes and probes need: one request, one answer, then the connection is closed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus

MAX_REQUEST = 16 * 1024
"""Bytes of a request's line and headers."""

_REQUEST_LINE = re.compile(rb"([A-Z]{1,16}) (\S{1,2048}) HTTP/1\.[01]\r?")
_END = re.compile(rb"\n\r?\n")


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


def parse_request(data: bytes) -> tuple[str, str] | None:
    """Method and path (without the query) of the request that `data` begins with; headers are not looked at.

    None if it has not ended yet. Raises BadRequest for what is no request, or too long to be one.
    """
    line, newline, _ = data.partition(b"\n")
    match = _REQUEST_LINE.fullmatch(line)
    if newline and match is None:
        raise BadRequest(400, "not an HTTP/1.1 request")
    if match is None or _END.search(data) is None:
        if len(data) > MAX_REQUEST:
            raise BadRequest(431, "the request is too long")
        return None
    return match[1].decode("ascii"), match[2].split(b"?", 1)[0].decode("latin-1")
