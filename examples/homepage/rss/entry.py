"""An entry of a feed as we keep it: text that the database can hold, a link that a browser may follow."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import md5
from typing import Any
from urllib.parse import urlsplit

from postmill.text import clean

LONGEST_TITLE = 2_000
LONGEST_DESCRIPTION = 50_000
LONGEST_CONTENT = 500_000
LONGEST_URL = 2_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Entry:
    """`guid` is None where the feed gives none. HTML in texts was made harmless by feedparser."""

    guid: str | None
    title: str
    url: str
    description: str
    content: str
    author: str
    published_at: datetime | None

    @property
    def content_hash(self) -> str:
        """MD5 of title and description: for similarity, not for safety."""
        return md5(f"{self.title}{self.description}".encode(), usedforsecurity=False).hexdigest()


def guid_of(found: dict[str, Any]) -> str | None:
    """The guid of an entry as feedparser has it; None for an empty one."""
    return _text(found, "id", LONGEST_CONTENT) or None


def entry_of(found: dict[str, Any]) -> Entry | None:
    """The entry; None where title or URL are missing or blank."""
    title, url = _text(found, "title", LONGEST_TITLE), _url(found)
    if not title or not url:
        return None
    content = " ".join(str(part.get("value") or "") for part in found.get("content", ()))
    return Entry(
        guid_of(found),
        title,
        url,
        _text(found, "summary", LONGEST_DESCRIPTION),
        clean(content.strip(), LONGEST_CONTENT),
        _text(found, "author", LONGEST_TITLE),
        _moment(found.get("published_parsed") or dict.get(found, "updated_parsed")),
    )


def _text(found: dict[str, Any], name: str, most: int) -> str:
    return clean(str(found.get(name) or "").strip(), most)


def _url(found: dict[str, Any]) -> str:
    """The link; of an episode without one its file."""
    links = [found.get("link"), *(file.get("href") for file in found.get("enclosures", ()))]
    return next((url for link in links if (url := _followed(link))), "")


def _followed(link: object) -> str:
    url = str(link or "").strip()
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    fine = parts.scheme in ("http", "https") and parts.netloc and len(url) <= LONGEST_URL
    return clean(url, LONGEST_URL) if fine else ""


def _moment(parsed: Any) -> datetime | None:
    """A date as feedparser reads it (UTC); None where it could not, or where it is none."""
    try:
        return _EPOCH + timedelta(seconds=calendar.timegm(parsed)) if parsed else None
    except (ValueError, OverflowError, TypeError):
        return None
