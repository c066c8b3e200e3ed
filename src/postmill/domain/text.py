"""Text that the database can hold: no NUL, no lone surrogates, bounded, whatever a handler's error says."""

from __future__ import annotations

import re

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def unstorable(text: str) -> str | None:
    """Why `text` cannot be stored in PostgreSQL, or None if it can."""
    found = None if text.isascii() and "\0" not in text else _UNSTORABLE.search(text)
    if found is None:
        return None
    return "holds a NUL character" if found[0] == "\0" else f"holds a lone surrogate (U+{ord(found[0]):04X})"


def clean(text: str, limit: int) -> str:
    """`text` with what cannot be stored replaced by U+FFFD, and at most `limit` bytes of UTF-8.

    Of longer text head and tail are kept, with a mark of the cut between them. A 100 MB text costs no more
    than a short one.
    """
    if len(text) <= limit:
        text = _UNSTORABLE.sub(REPLACEMENT, text)
        if len(text) * 4 <= limit or len(text.encode()) <= limit:
            return text
    mark = f"\n… cut, {len(text)} characters in all …\n"
    if len(mark.encode()) > limit // 2:
        mark = ""
    room = limit - len(mark.encode())
    tail_room = room // 3
    head = _UNSTORABLE.sub(REPLACEMENT, text[: room - tail_room]).encode()[: room - tail_room]
    tail = _UNSTORABLE.sub(REPLACEMENT, text[-tail_room:] if tail_room else "").encode()
    tail = tail[len(tail) - min(tail_room, len(tail)) :]
    # A character cut in half at either edge is dropped, not replaced: the result stays within the limit.
    return head.decode(errors="ignore") + mark + tail.decode(errors="ignore")
