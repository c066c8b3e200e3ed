"""Frames between worker and child: two lengths, a JSON object, and bytes that are not made into JSON again."""

from __future__ import annotations

import json
import socket
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio  # the child may do without

_SIZES = struct.Struct(">II")

MOST_HEAD = 1 << 20
MOST_BLOB = 1 << 26
"""No honest frame is larger. Results are refused far below it, in the child."""

Frame = tuple[dict[str, Any], bytes]


class BadFrame(Exception):
    """The other side does not speak this protocol: a handler has written to a descriptor that is not its own."""


def pack(head: dict[str, Any], blob: bytes = b"") -> bytes:
    """One frame. The standard library's JSON: paths that are no UTF-8 hold surrogates, which others refuse."""
    text = json.dumps(head).encode()
    return _SIZES.pack(len(text), len(blob)) + text + blob


async def read(reader: asyncio.StreamReader) -> Frame | None:
    """The next frame, or None at the end. Raises BadFrame."""
    try:
        head, blob = _checked(await reader.readexactly(_SIZES.size))
        return _object(await reader.readexactly(head)), await reader.readexactly(blob)
    except (EOFError, ConnectionError):  # asyncio.IncompleteReadError is an EOFError
        return None


def receive(link: socket.socket) -> Frame:
    """The next frame, blocking. Raises EOFError when the other side is gone."""
    head, blob = _SIZES.unpack(_exactly(link, _SIZES.size))
    return json.loads(_exactly(link, head)), _exactly(link, blob)


def _checked(sizes: bytes) -> tuple[int, int]:
    head, blob = _SIZES.unpack(sizes)
    if head > MOST_HEAD or blob > MOST_BLOB:
        raise BadFrame
    return head, blob


def _object(text: bytes) -> dict[str, Any]:
    try:
        head = json.loads(text)
    except ValueError:
        raise BadFrame from None
    if not isinstance(head, dict):
        raise BadFrame
    return head


def _exactly(link: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = link.recv(min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
