"""Frames between worker and guard: length of the rest, one byte of kind, then fields, each with its length."""

from __future__ import annotations

import os
import struct

# Worker to guard.
LAUNCH = b"L"  # start this; once, first
STOP = b"S"  # SIGTERM now, SIGKILL after the grace period
LIMIT = b"T"  # seconds from now until the timeout; an empty field lifts it
ENDING = b"E"  # it is about to end by itself; SIGKILL in so many seconds, and no timeout any more
KILL = b"K"  # SIGKILL now

# Guard to worker.
STARTED = b"s"  # pid, scratch folder
REFUSED = b"r"  # errno, text: nothing was started
ENDED = b"e"  # see `ending.py`; the guard exits once the worker has closed its end

_SIZE = struct.Struct(">I")
HEAD = _SIZE.size


def pack(kind: bytes, *fields: bytes) -> bytes:
    """One frame."""
    body = kind + join(fields)
    return _SIZE.pack(len(body)) + body


def join(fields: tuple[bytes, ...] | list[bytes]) -> bytes:
    """Byte strings as one, each behind its length."""
    return b"".join(_SIZE.pack(len(field)) + field for field in fields)


def split(joined: bytes) -> list[bytes]:
    """What `join` joined."""
    fields = []
    at = 0
    while at < len(joined):
        (size,) = _SIZE.unpack_from(joined, at)
        at += HEAD
        fields.append(joined[at : at + size])
        at += size
    return fields


def size_of(head: bytes) -> int:
    """Length of a frame's rest, from its first HEAD bytes."""
    (size,) = _SIZE.unpack(head)
    return int(size)


def receive(control: int) -> tuple[bytes, list[bytes]] | None:
    """The next frame (blocking), as kind and fields; None when the other side is gone."""
    head = _exactly(control, HEAD)
    body = _exactly(control, size_of(head)) if head else None
    return (body[:1], split(body[1:])) if body else None


def send(control: int, frame: bytes) -> None:
    """Write a frame (blocking). Raises ConnectionError when the other side is gone."""
    left = memoryview(frame)
    while left:
        left = left[os.write(control, left) :]


def _exactly(control: int, size: int) -> bytes | None:
    parts = []
    while size:
        try:
            part = os.read(control, min(size, 1 << 20))
        except ConnectionError:
            return None
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
