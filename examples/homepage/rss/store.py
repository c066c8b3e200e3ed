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
from postmill.domain.retry_after import retry_after

MOST_ERRORS = 5
"""So many in a row disable a source."""

_LONGEST_MESSAGE = 1000


async def succeeded(conn: Connection, source: Row, feed: Feed) -> dict[str, int]:
    """Keep what is new, and note that the source is well; how many items are new, and how many were there."""
    entries = [] if feed.parsed is None else feed.parsed.entries
    listed = keys(entries)
    known = await rows(
        conn,
        "known_items",
        source_id=source["id"],
        keys=[key for _, own in listed for key in own],
        hashes=[entry.content_hash for entry in entries],
    )
    new = new_entries(
        entries,
        {item["item_guid"]: item["content_hash"] for item in known},
        [item["content_hash"] for item in known],
        source["dedup_by"],
    )
    items = Jsonb([_item(key, entry) for key, entry in new])
    made = await rows(conn, "insert_items", source_id=source["id"], items=items)
    unchanged = feed.parsed is None
    await row(
        conn,
        "source_succeeded",
        id=source["id"],
        moment=source["moment"],
        etag=source["etag"] if unchanged else feed.fetched.etag,
        last_modified=source["last_modified"] if unchanged else feed.fetched.last_modified,
    )
    return {"new": len(made), "duplicate": len(entries) - len(made)}


async def failed(conn: Connection, source: Row, error: FeedError, wait: float | None) -> Row:
    """Note an error; `error_count` and `is_active` of the source as they are now. `wait`: seconds that the server asked for."""
    found = await row(
        conn,
        "source_failed",
        id=source["id"],
        message=str(error)[:_LONGEST_MESSAGE],
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
