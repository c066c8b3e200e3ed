"""Takes mail addresses out of texts, so that neither side learns the other's."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "[address hidden]"

# Lengths are those of the standard; without them a long text without an @ would take the square of its length.
_ADDRESS = re.compile(
    r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}(?:@|%40|&#64;)((?:[\w-]{1,63}\.){1,8}[\w-]{1,63})", re.IGNORECASE
)
_MARKS = ("@", "%40", "&#64;")


def hide_addresses(text: str, real: Iterable[str], domain: str) -> str:
    """`text` without mail addresses, other than masked ones at `domain`. `real`: addresses that are surely not to be told,
    whatever stands around them."""
    for address in real:
        text = re.sub(re.escape(address), HIDDEN, text, flags=re.IGNORECASE)
    if not any(mark in text for mark in _MARKS):
        return text
    return _ADDRESS.sub(lambda found: found[0] if found[1].lower() == domain.lower() else HIDDEN, text)


def one_line(text: str, most: int = 200) -> str:
    """`text` as a header can hold it: no line ends or other control characters, and not too long."""
    return "".join(char if char.isprintable() else " " for char in text[: most * 4]).strip()[:most]
