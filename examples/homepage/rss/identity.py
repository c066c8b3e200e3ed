"""Which entries are the same: by guid within their source, else by URL and date of publication.

An entry without a guid gets a key that is made of what hardly changes. Rules have numbers; a key that an older rule has made
is still looked for, so that a new rule does not make the whole list new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from examples.homepage.rss.entry import Entry

DedupBy = Literal["guid", "content_hash"]

LONGEST_GUID = 500
"""A longer one is kept as its hash: an index could not hold it."""


def fallback(entry: Entry) -> str:
    """Rule 2: the URL without its query and fragment, which may hold a token of each fetch, and the date; the title where
    there is no date."""
    when = entry.published_at.isoformat() if entry.published_at else entry.title
    return f"fallback:2:{_hash(_without_query(entry.url), when)}"


def together(entry: Entry) -> str:
    """Rule 2, where several entries of a document share URL and date: the title tells them apart."""
    return f"fallback:2:{_hash(_without_query(entry.url), entry.published_at or '', entry.title)}"


def literal(entry: Entry) -> str:
    """Rule 1: URL and date as they are."""
    return f"fallback:1:{_hash(entry.url, entry.published_at or '')}"


_FORMER: tuple[Callable[[Entry], str], ...] = (literal,)


def keys(entries: Iterable[Entry]) -> list[tuple[Entry, list[str]]]:
    """Each entry with its keys: the first is stored, by all of them it is looked for."""
    listed = list(entries)
    shared = Counter(fallback(entry) for entry in listed if entry.guid is None)
    return [(entry, _keys(entry, shared)) for entry in listed]


def new_entries(
    entries: Iterable[Entry], known: Mapping[str, str], hashes: Iterable[str], by: DedupBy = "guid"
) -> list[tuple[str, Entry]]:
    """What is not there yet, each with its key, and each once.

    Args:
        known: keys of the source's items, with their content hashes.
        hashes: content hashes of the source's items; asked with `by="content_hash"`.
    """
    seen, contents = dict(known), set(hashes)
    made: list[tuple[str, Entry]] = []
    for entry, candidates in keys(entries):
        content = entry.content_hash
        same = any(
            key in seen and (key not in _ambiguous(entry, candidates) or seen[key] == content)
            for key in candidates
        )
        if same or (by == "content_hash" and content in contents):
            continue
        made.append((candidates[0], entry))
        seen[candidates[0]] = content
        contents.add(content)
    return made


def _keys(entry: Entry, shared: Counter[str]) -> list[str]:
    if entry.guid is not None:
        return [entry.guid if len(entry.guid) <= LONGEST_GUID else f"sha256:{_hash(entry.guid)}"]
    plain, titled = fallback(entry), together(entry)
    own = [titled, plain] if shared[plain] > 1 else [plain, titled]
    return [*own, *(rule(entry) for rule in _FORMER)]


def _ambiguous(entry: Entry, candidates: list[str]) -> tuple[str, ...]:
    """Keys that several entries of this document share: they mean the one whose content is the same."""
    plain = fallback(entry) if entry.guid is None else ""
    return (plain, literal(entry)) if plain and candidates[0] != plain else ()


def _hash(*parts: object) -> str:
    return sha256("\n".join(map(str, parts)).encode()).hexdigest()


def _without_query(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.casefold(), parts.path, "", ""))
