"""From the last bytes of an output to text that can be stored and shown (case 75)."""

from __future__ import annotations

from postmill.domain.text import REPLACEMENT
from postmill.engine.child_guard.tail import Tail

_LONGEST = 4  # bytes of a character in UTF-8


def text_of(tail: Tail, limit: int) -> str:
    """At most `limit` bytes of UTF-8 from the end of the output.

    What is no UTF-8 becomes U+FFFD, as does NUL, which PostgreSQL cannot store; a character that the cut went through
    is left out. Everything else stays as it is, escape sequences too: who shows it must escape it.
    """
    data = tail.data
    if tail.total > len(data):
        data = _from_boundary(data)
    text = data.decode("utf-8", errors="replace").replace("\0", REPLACEMENT)
    # Each replacement takes three bytes, where it may have been one.
    if len(text) * 3 > limit and len(encoded := text.encode()) > limit:
        text = encoded[len(encoded) - limit :].decode(errors="ignore")
    return text


def _from_boundary(data: bytes) -> bytes:
    """Without the rest of a character at the start."""
    for at, byte in enumerate(data[:_LONGEST]):
        if byte & 0xC0 != 0x80:
            return data[at:]
    return data if len(data) >= _LONGEST else b""
