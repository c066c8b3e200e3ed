"""Makes entries of a document. What can be read is kept, however broken the rest; a document of nothing is an error."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

import feedparser

from examples.homepage.rss.entry import Entry, entry_of, guid_of
from examples.homepage.rss.errors import FeedError

_REFERENCE = re.compile(rb"&#(x[0-9a-fA-F]{1,9}|\d{1,9});")


@dataclass(frozen=True, slots=True)
class Parsed:
    """`entries` in the order of the feed, `missing` the guids of those without title or URL; `found` counts both.

    `fault` is what is wrong with the document, which was read all the same; `left_out` counts entries beyond the limit.
    """

    entries: list[Entry]
    missing: list[str]
    found: int
    left_out: int = 0
    fault: str | None = None


def parse(body: bytes, *, url: str, content_type: str, most: int) -> Parsed:
    """The entries of a feed. Raises FeedError where there is none."""
    if not body.strip():
        raise FeedError("parse_error", "the document is empty")
    headers = {"content-type": content_type, "content-location": url}
    try:
        # Never the bytes themselves: feedparser takes those for the name of a file, if there is one.
        document = feedparser.parse(io.BytesIO(_storable(body)), response_headers=headers)
    except Exception as fault:
        raise FeedError("parse_error", f"{type(fault).__name__}: {fault}") from fault
    wrong = document.get("bozo_exception")
    why = None if wrong is None else f"{type(wrong).__name__}: {wrong}"
    if not document.entries and (not document.version or not _is_harmless(wrong)):
        raise FeedError("parse_error", why or "the document is no feed")
    taken = document.entries[:most]
    pairs = [(found, entry_of(found)) for found in taken]
    return Parsed(
        [entry for _, entry in pairs if entry is not None],
        [guid_of(found) or "" for found, entry in pairs if entry is None],
        len(taken),
        len(document.entries) - len(taken),
        None if _is_harmless(wrong) else why,
    )


def _is_harmless(wrong: Exception | None) -> bool:
    """The document says one encoding and has another, or is served as something else: no reason to doubt what was read."""
    return wrong is None or isinstance(
        wrong, feedparser.CharacterEncodingOverride | feedparser.NonXMLContentType
    )


def _storable(body: bytes) -> bytes:
    """Without references to what is no character: one of them would cost the whole document."""
    return _REFERENCE.sub(lambda found: found[0] if _is_character(found[1]) else b"&#xFFFD;", body)


def _is_character(digits: bytes) -> bool:
    number = int(digits[1:], 16) if digits.startswith(b"x") else int(digits)
    return 0 < number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF
