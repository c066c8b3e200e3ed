"""The end of a stream, in bounded memory."""

from __future__ import annotations

import os

CHUNK = 1 << 16  # what a pipe holds


class Tail:
    """The last `limit` bytes of what was added; `total` counts all of them."""

    __slots__ = ("data", "limit", "total")

    def __init__(self, limit: int, data: bytes = b"", total: int = 0) -> None:
        self.limit = limit
        self.data = data
        self.total = total

    def add(self, chunk: bytes) -> None:
        """Append; what is too old falls off."""
        self.total += len(chunk)
        kept = chunk if len(chunk) >= self.limit else self.data + chunk
        self.data = kept[-self.limit :] if self.limit else b""

    def read(self, fd: int) -> bool:
        """Take one chunk of a non-blocking pipe. False once its end is reached."""
        try:
            chunk = os.read(fd, CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.add(chunk)
        return bool(chunk)
