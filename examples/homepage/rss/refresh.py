"""Fetches one source and finds what is new in it, with all that is told of it on the way."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from examples.homepage.rss import telemetry
from examples.homepage.rss.apart import parse_apart
from examples.homepage.rss.errors import FeedError
from examples.homepage.rss.fetch import FeedFetcher, Fetched
from examples.homepage.rss.parse import Parsed
from examples.homepage.statements import Row


@dataclass(frozen=True, slots=True)
class Feed:
    """What a source has now; `parsed` is None where it has not changed."""

    fetched: Fetched
    parsed: Parsed | None


async def read(fetcher: FeedFetcher, source: Row, log: Any) -> Feed:
    """Fetch and parse. Raises FeedError, which is counted by then."""
    source_id, begun = str(source["id"]), perf_counter()
    telemetry.event("fetch.started", {"source_id": source_id, "source_url": _shown(source["url"])})
    result = "failure"
    try:
        feed = await _read(fetcher, source)
        result = "success"
    except FeedError as error:
        telemetry.errors.labels(source_id=source_id, error_type=error.error_type).inc()
        raise
    finally:
        took = perf_counter() - begun
        telemetry.duration.labels(source_id=source_id, result=result).observe(took)
    _tell(feed, source, log)
    return feed


async def _read(fetcher: FeedFetcher, source: Row) -> Feed:
    fetched = await fetcher.fetch(source["url"], etag=source["etag"], last_modified=source["last_modified"])
    if fetched.body is None:
        return Feed(fetched, None)
    parsed = await parse_apart(
        fetched.body, url=fetched.url, content_type=fetched.content_type, most=fetcher.most_entries
    )
    return Feed(fetched, parsed)


def _tell(feed: Feed, source: Row, log: Any) -> None:
    about = {"source": source["name"], "source_id": str(source["id"])}
    if feed.fetched.url != source["url"]:
        log.info("feed_redirected", **about, to=_shown(feed.fetched.url))
    parsed = feed.parsed
    telemetry.event("parse.completed", {"items_fetched": 0 if parsed is None else parsed.found})
    if parsed is None:
        return
    if parsed.fault is not None:
        log.warning("feed_is_broken", **about, fault=parsed.fault)
    if parsed.left_out:
        log.warning("feed_was_cut", **about, entries=parsed.found, left_out=parsed.left_out)
    for guid in parsed.missing:
        telemetry.event("entry.missing_fields", {"guid": guid})
    if parsed.missing:
        log.warning("entries_without_title_or_url", **about, skipped=len(parsed.missing))


def _shown(url: str) -> str:
    """Without the password that may be in it."""
    scheme, mark, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"
