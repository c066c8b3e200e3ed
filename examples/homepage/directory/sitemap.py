"""Sitemaps by the protocol of sitemaps.org, version 0.9: files of bounded size, and the index that names them.

A file's name has the digest of its content. So what has not changed keeps its name, its bytes and its lastmod; a new
generation writes its files beside the old ones, and is there at the moment when its index replaces the one before.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from xml.sax.saxutils import escape

MOST_URLS = 50_000
MOST_BYTES = 50 * 1024 * 1024
"""Of one file, unpacked."""

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
)
_QUOTES = {'"': "&quot;", "'": "&apos;"}


class TooManySites(Exception):
    """More than one index can name."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of a generation: packed bytes, and when the latest of its pages has changed."""

    name: str
    body: bytes
    lastmod: datetime


def files(
    pages: Iterable[tuple[str, datetime]], most_urls: int = MOST_URLS, most_bytes: int = MOST_BYTES
) -> Iterator[File]:
    """Addresses with the moments of their last changes, in files within the bounds; none where there are no pages."""
    head, tail = _HEAD.format(kind="urlset").encode(), b"</urlset>\n"
    entries: list[bytes] = []
    size, latest = len(head) + len(tail), datetime.min.replace(tzinfo=UTC)
    for url, changed in pages:
        entry = _entry("url", url, changed)
        if entries and (len(entries) == most_urls or size + len(entry) > most_bytes):
            yield _file(head, entries, tail, latest)
            entries, size, latest = [], len(head) + len(tail), datetime.min.replace(tzinfo=UTC)
        entries.append(entry)
        size, latest = size + len(entry), max(latest, changed)
    if entries:
        yield _file(head, entries, tail, latest)


def index(base: str, made: Iterable[File]) -> bytes:
    """The index of a generation, whose files are below `base`. Raises TooManySites."""
    entries = [_entry("sitemap", base + file.name, file.lastmod) for file in made]
    body = b"".join([_HEAD.format(kind="sitemapindex").encode(), *entries, b"</sitemapindex>\n"])
    if len(entries) > MOST_URLS or len(body) > MOST_BYTES:
        raise TooManySites(f"{len(entries):,} sitemaps; an index names {MOST_URLS:,}")
    return body


def _entry(kind: str, url: str, changed: datetime) -> bytes:
    moment = changed.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"<{kind}><loc>{escape(url, _QUOTES)}</loc><lastmod>{moment}</lastmod></{kind}>\n".encode()


def _file(head: bytes, entries: list[bytes], tail: bytes, lastmod: datetime) -> File:
    text = b"".join([head, *entries, tail])
    return File(f"sites-{sha256(text).hexdigest()[:32]}.xml.gz", gzip.compress(text, mtime=0), lastmod)
