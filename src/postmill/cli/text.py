"""Text of unknown origin, made fit for a terminal.

Error messages, payloads and progress texts come from jobs. An escape sequence or a right-to-left override in
them must show as text and never act on the operator's terminal (case: ANSI escapes in a job's output).
"""

from __future__ import annotations

import re
import unicodedata

# C0 without tab and newline, DEL and C1, and the characters that reorder or hide what follows.
_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def plain(value: object) -> str:
    """`value` as text in which every acting character is written as an escape; line breaks stay."""
    return _ACTING.sub(_escaped, str(value).replace("\r\n", "\n"))


def one_line(value: object, longest: int = 200) -> str:
    """`plain` on a single line, cut to `longest` characters with an ellipsis."""
    text = " ".join(plain(value).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def is_utf8(text: str) -> bool:
    """Whether an argument came as UTF-8: of other bytes Python makes lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if unicodedata.category(found[0]) == "Cc" and code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}"
