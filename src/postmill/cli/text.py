"""Text of unknown origin, made fit for a terminal.

Error messages, payloads and progress texts come from jobs. An escape sequence or a right-to-left override in
them must show as text and never act on the operator's terminal (case: ANSI escapes in a job's output).
"""

from __future__ import annotations

import unicodedata

_KEPT = "\t\n"


def plain(value: object) -> str:
    """`value` as text in which every character that does not print is written as an escape; line breaks stay.

    Those are controls, what reorders or hides what follows, lone surrogates, private ones and what is no character; blanks
    of any width are printed.
    """
    text = str(value).replace("\r\n", "\n")
    if text.isprintable():
        return text
    return "".join(one if prints(one) else _escaped(one) for one in text)


def prints(character: str) -> bool:
    """Whether a terminal shows it, and does nothing else."""
    return character.isprintable() or character in _KEPT or unicodedata.category(character) == "Zs"


def one_line(value: object, longest: int = 200) -> str:
    """`plain` on a single line, cut to `longest` characters with an ellipsis."""
    text = " ".join(plain(value).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def is_utf8(text: str) -> bool:
    """Whether an argument came as UTF-8: of other bytes Python makes lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _escaped(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
