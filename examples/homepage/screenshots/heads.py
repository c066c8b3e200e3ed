"""What a browser says to a proxy first, and what it must not hear of the answer."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

MOST = 256 * 1024
"""Bytes of a head."""

_OF_A_HOP = frozenset(
    {b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive", b"upgrade", b"te"}
)


class BadHead(Exception):
    """No request that a browser would send to a proxy."""


@dataclass(frozen=True, slots=True)
class Request:
    """Where to, and what to say there: `head` is empty for a tunnel; `body` bytes follow it."""

    host: str
    port: int
    head: bytes
    body: int

    @property
    def tunnel(self) -> bool:
        """CONNECT: for https and WebSockets."""
        return not self.head


def request(head: bytes) -> Request:
    """The head of a request, up to its empty line. Raises BadHead."""
    line, *fields = head.rstrip(b"\r\n").split(b"\r\n")
    try:
        method, target, _ = line.decode("ascii").split(" ")
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise BadHead from None
    if method == "CONNECT" and host and port:
        return Request(host, port, b"", 0)
    if parts.scheme != "http" or not host:
        raise BadHead
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept, length = [f"{method} {path} HTTP/1.1".encode("ascii")], 0
    for field in fields:
        name = field.partition(b":")[0].strip().lower()
        if name == b"transfer-encoding":
            raise BadHead
        if name == b"content-length":
            length = _number(field)
        if name not in _OF_A_HOP:
            kept.append(field)
    return Request(host, port or 80, b"\r\n".join([*kept, b"Connection: close", b"", b""]), length)


def answer(head: bytes) -> bytes:
    """The head of an answer, changed so that a browser sends nothing more on its connection, which leads to one host only."""
    line, *fields = head.rstrip(b"\r\n").split(b"\r\n")
    kept = [field for field in fields if field.partition(b":")[0].strip().lower() not in _OF_A_HOP]
    return b"\r\n".join([line, *kept, b"Connection: close", b"", b""])


def interim(head: bytes) -> bool:
    """Whether another head follows (100, 103)."""
    return head.split(b" ", 2)[1:2] < [b"2"]


def _number(field: bytes) -> int:
    text = field.partition(b":")[2].strip()
    if not text.isdigit():
        raise BadHead
    return int(text)
