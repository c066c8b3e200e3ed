"""What becomes of a source and its items: each outcome is one or two statements."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from examples.homepage.rss.entry import Entry
from examples.homepage.rss.errors import FeedError
from examples.homepage.rss.identity import keys, new_entries
from examples.homepage.rss.refresh import Feed
from examples.homepage.statements import Connection, Row, row, rows
from postmill.retrying import retry_after
from postmill.text import clean

MOST_ERRORS = 5
"""So many in a row disable a source."""

_LONGEST_MESSAGE = 1000


async def succeeded(conn: Connection, source: Row, feed: Feed) -> dict[str, int]:
    """Note that the source is well, and keep what is new; how many items are new, and how many were there.

    In a transaction: the source's row is locked first, so that of two fetches at one moment the second sees what the first
    has kept.
    """
    entries = [] if feed.parsed is None else feed.parsed.entries
    there = await row(conn, "source_succeeded", id=source["id"], **_validators(source, feed))
    new = await _new(conn, source, entries) if there and entries else []
    items = Jsonb([_item(key, entry) for key, entry in new])
    made = await rows(conn, "insert_items", source_id=source["id"], items=items) if new else []
    return {"new": len(made), "duplicate": len(entries) - len(made)}


async def _new(conn: Connection, source: Row, entries: list[Entry]) -> list[tuple[str, Entry]]:
    wanted = [key for _, own in keys(entries) for key in own]
    hashes = [entry.content_hash for entry in entries]
    known = await rows(conn, "known_items", source_id=source["id"], keys=wanted, hashes=hashes)
    contents = {item["item_guid"]: item["content_hash"] for item in known}
    return new_entries(entries, contents, contents.values(), source["dedup_by"])


def _validators(source: Row, feed: Feed) -> Row:
    """By what the next fetch asks whether something has changed."""
    kept = {name: source[name] for name in ("moment", "etag", "last_modified")}
    changed = {"etag": feed.fetched.etag, "last_modified": feed.fetched.last_modified}
    return kept if feed.parsed is None else kept | changed


async def failed(conn: Connection, source: Row, error: FeedError, wait: float | None) -> Row:
    """Note an error; `error_count` and `is_active` of the source as they are now. `wait`: seconds that the server asked for."""
    found = await row(
        conn,
        "source_failed",
        id=source["id"],
        message=clean(str(error), _LONGEST_MESSAGE),
        wait=wait,
        most_errors=MOST_ERRORS,
    )
    return found or {"error_count": 0, "is_active": True}


def wait_of(error: FeedError, now: datetime) -> tuple[float | None, list[str] | None]:
    """Seconds that the server asked for, at most a day; and its headers, where they say nothing that can be read."""
    if error.retry_after is None:
        return None, None
    wait = retry_after(error.retry_after, now)
    return wait, None if wait is not None else [header[:100] for header in error.retry_after]


def _item(key: str, entry: Entry) -> dict[str, Any]:
    return {
        "item_guid": key,
        "title": entry.title,
        "url": entry.url,
        "description": entry.description,
        "content": entry.content,
        "author": entry.author,
        "published_at": None if entry.published_at is None else entry.published_at.isoformat(),
        "content_hash": entry.content_hash,
    }
