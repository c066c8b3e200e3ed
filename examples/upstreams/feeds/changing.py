"""Feeds that are another document each time they are asked for, by number from 1: how identities go wrong."""

from __future__ import annotations

from collections.abc import Callable

from examples.upstreams.feeds.documents import item, rss

FIVE = range(1, 6)


def token_in_link(time: int) -> str:
    """No guid, and a link with another token each time."""
    return rss(item(n, guid=None, link=f"https://news.example/{n}?token={time}-{n}") for n in FIVE)


def one_link(time: int) -> str:
    """No guid, and one link for all; two of them have one date, too."""
    return rss(
        item(n, guid=None, link="https://news.example/", pubDate=f"Mon, 02 Mar 2026 0{min(n, 4)}:00:00 GMT")
        for n in FIVE
    )


def undated(time: int) -> str:
    """Neither guid nor date."""
    return rss(item(n, guid=None, pubDate=None, link=f"https://news.example/{n}?t={time}") for n in FIVE)


def empty_guid(time: int) -> str:
    """An empty element for a guid."""
    return rss(item(n, guid="") for n in FIVE)


def edited_title(time: int) -> str:
    """The guid stays, the title is edited."""
    return rss(item(n, title=f"Item {n}, version {time}") for n in FIVE)


def new_guids(time: int) -> str:
    """The site was rebuilt: all guids are others, the texts are the same."""
    return rss(item(n, guid=f"build-{time}-{n}") for n in FIVE)


def twice(time: int) -> str:
    """Each item twice in one document."""
    return rss(item(n) for n in (*FIVE, *FIVE))


def growing(time: int) -> str:
    """One more each time, the latest first, and of no more than five."""
    return rss(item(n) for n in range(time + 4, time - 1, -1))


CHANGING: dict[str, Callable[[int], str]] = {
    made.__name__.replace("_", "-"): made
    for made in (
        token_in_link,
        one_link,
        undated,
        empty_guid,
        edited_title,
        new_guids,
        twice,
        growing,
    )
}
