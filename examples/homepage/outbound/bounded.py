"""Reads a body up to a bound, and unpacks gzip by what the bytes are: headers about it are often wrong."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable

GZIP = b"\x1f\x8b"


class TooLarge(Exception):
    """A body of more bytes than it may have."""


async def read_bounded(chunks: AsyncIterable[bytes], most: int) -> bytes:
    """The body, unpacked. Of a packed one that is cut off or damaged: what could be unpacked. Raises TooLarge."""
    made, packed = bytearray(), None
    waiting, decided = b"", False
    async for chunk in chunks:
        waiting += chunk
        if not decided and len(waiting) >= len(GZIP):
            decided = True
            packed = zlib.decompressobj(wbits=31) if waiting.startswith(GZIP) else None
        if not decided:
            continue
        whole = _add(packed, waiting, made, most)
        waiting = b""
        if len(made) > most:
            raise TooLarge(f"more than {most:,} bytes")
        if whole:
            break
    return bytes(made) + waiting


def _add(packed: zlib._Decompress | None, chunk: bytes, made: bytearray, most: int) -> bool:
    """Adds what a chunk holds, of a packed one up to one byte beyond the bound; whether nothing more can come."""
    if packed is None:
        made += chunk
        return False
    try:
        made += packed.decompress(chunk, most + 1 - len(made))
    except zlib.error:
        return True
    return packed.eof
