"""Bytes of mails as text, whatever they call their charset."""

from __future__ import annotations

import codecs
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.policy import Compat32

MOST_HEADER = 20_000
"""Characters of a header that are looked at."""


class _Bounded(Compat32):
    """Cuts headers when they are read: what takes one apart needs the square of its length, in time."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:MOST_HEADER]


BOUNDED = _Bounded()
"""How mails are parsed."""

# Python's own codecs, which no mail program means; punycode takes the square of the length.
_NO_CHARSETS = {
    "punycode",
    "idna",
    "undefined",
    "unicode_escape",
    "raw-unicode-escape",
    "raw_unicode_escape",
    "unicode-escape",
}


def decode(data: bytes, charset: str | None) -> str:
    """`data` in `charset`; where that is unknown, or none is said: UTF-8 if it is, else Western European. Never fails."""
    try:
        if charset and codecs.lookup(charset).name not in _NO_CHARSETS:
            return data.decode(charset, "replace")
    except (LookupError, ValueError):
        pass
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def headers(mail: Message, name: str) -> list[str]:
    """The texts of all headers of a name, decoded, each in one line."""
    return [_decoded(value) for value in mail.get_all(name, [])]


def header(mail: Message, name: str) -> str:
    """The text of the first header of a name; empty without one."""
    return next(iter(headers(mail, name)), "")


def _decoded(value: object) -> str:
    # Bytes that are no ASCII come as surrogates.
    text = decode(str(value)[:MOST_HEADER].encode("utf-8", "surrogateescape"), None)
    try:
        pieces = decode_header(text)
    except (HeaderParseError, ValueError):
        pieces = [(text, None)]
    joined = "".join(piece if isinstance(piece, str) else decode(piece, charset) for piece, charset in pieces)
    return " ".join(joined.split())
