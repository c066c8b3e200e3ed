"""Texts from outside as a page shows them: without secrets, inert, cut, and whole elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass

from postmill.domain.redaction import redacted_text

MOST = 65_536
"""Characters of one text on a page; the rest is shown in parts, or taken away as a file."""

# Controls but tab and newline, lone surrogates, and what turns text around (Unicode TR 36): they are shown, not done.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Text:
    """A text, or what a page shows of it.

    Attributes:
        shown: this much.
        length: characters of the whole.
        cut: where the rest begins or ends: `end` (the beginning is shown), `start` (the end is), or None.
        more: a link to the next part.
        whole: a link to the file.
    """

    shown: str
    length: int
    cut: str | None
    more: str
    whole: str


def visible(text: str) -> str:
    """`text` with each character that could drive a terminal or turn the text around written out: `\\x1b`, `\\u202e`."""
    if text.isprintable():
        return text
    return _UNSAFE.sub(lambda found: _written(ord(found[0])), text)


def clean(text: str | None) -> str | None:
    """Without secrets, and inert."""
    return None if text is None else visible(redacted_text(text))


def beginning(text: str | None, length: int | None, more: str, whole: str, most: int = MOST) -> Text | None:
    """The first characters of a text, of which a little more than that is given: a secret across the edge is seen whole."""
    if text is None:
        return None
    shown, total = clean(text) or "", length or 0
    cut = "end" if total > most else None
    return Text(shown[:most], total, cut, more, whole)


def end(text: str | None, length: int | None, more: str, whole: str, most: int) -> Text | None:
    """The last characters of a text, from the beginning of a line."""
    if text is None:
        return None
    shown, total = clean(text) or "", length or 0
    if total <= most:
        return Text(shown, total, None, more, whole)
    shown = shown[-most:]
    _line, newline, rest = shown.partition("\n")
    return Text(rest if newline and rest else shown, total, "start", more, whole)


def _written(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
