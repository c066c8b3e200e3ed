"""Which entries are the same: feeds without guids, with guids that change, and one rule after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from examples.homepage.rss import identity
from examples.homepage.rss.entry import Entry
from examples.homepage.rss.parse import parse
from examples.homepage.tests.site import Site
from examples.upstreams.feeds.changing import CHANGING
from examples.upstreams.feeds.documents import item, rss

EXPECTED = {
    # ten fetches of five items: how many are kept, by guid and by content
    "token-in-link": (5, 5), "one-link": (5, 5), "undated": (5, 5), "empty-guid": (5, 5), "edited-title": (5, 5),
    "new-guids": (50, 5), "twice": (5, 5), "growing": (14, 14),
}  # fmt: skip


def entries(document: str) -> list[Entry]:
    return parse(
        document.encode(), url="https://news.example/feed", content_type="text/xml", most=1000
    ).entries


def kept(
    documents: list[str], by: identity.DedupBy = "guid", known: dict[str, str] | None = None
) -> dict[str, str]:
    """Keys and content hashes of what is new in one document after the other."""
    store = dict(known or {})
    for document in documents:
        new = identity.new_entries(entries(document), store, list(store.values()), by)
        assert not {key for key, _ in new} & store.keys()
        store |= {key: entry.content_hash for key, entry in new}
    return store


@pytest.mark.parametrize("name", EXPECTED)
def test_ten_fetches(name: str) -> None:
    made = CHANGING[name]
    documents = [made(time) for time in range(1, 11)]
    assert (len(kept(documents)), len(kept(documents, "content_hash"))) == EXPECTED[name]


def test_what_leaves_the_feed_and_what_comes_beside_it() -> None:
    """Two items of one link and date are told apart by their titles, whether they come together or one after the other."""
    one, other = (
        item(n, guid=None, link="https://news.example/", pubDate="Mon, 02 Mar 2026 08:00:00 GMT")
        for n in (1, 2)
    )
    for order in (
        [rss([one]), rss([one, other])],
        [rss([one, other]), rss([other])],
        [rss([one, other])] * 2,
    ):
        assert len(kept(order)) == 2
    edited = item(
        1, guid=None, link="https://news.example/", pubDate="Mon, 02 Mar 2026 08:00:00 GMT", title="Edited"
    )
    assert len(kept([rss([one]), rss([edited])])) == 1
    moved = item(1, guid=None, link="https://news.example/1", pubDate="Mon, 02 Mar 2026 09:00:00 GMT")
    assert len(kept([rss([item(1, guid=None)]), rss([moved])])) == 2, "another date is another item"


def test_an_upgrade_makes_no_item_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a version kept by the first rule is the same to the one that came after it."""
    feed = rss(item(n, guid=None) for n in range(5))
    before = {identity.literal(entry): entry.content_hash for entry in entries(feed)}
    assert len(before) == 5
    assert kept([feed] * 3, known=before) == before
    rules: tuple[Callable[[Entry], str], ...] = ()
    monkeypatch.setattr(identity, "_FORMER", rules)
    assert len(kept([feed], known=before)) == 10, "without the former rule they would be"


def test_a_guid_that_no_index_could_hold() -> None:
    long = [item(n, guid="x" * 5000 + str(n)) for n in range(3)]
    found = kept([rss(long), rss(long)])
    assert (len(found), max(map(len, found))) == (3, 71)


async def test_in_the_database(site: Site) -> None:
    """Guids are of their source; the same guid, and the same fetch twice at one moment, make no item twice."""
    feed = site.page("/one", rss(item(n) for n in (1, 2, 2)))
    sources = [await site.source(feed), await site.source(site.page("/two", rss([item(1), item(2)])))]
    by_content = await site.source("/changing/new-guids", dedup_by="content_hash")
    for source in (*sources, by_content):
        for force in (False, True):
            await site.enqueue(source_id=source, force_refresh=force)
    await site.run()
    for source in sources:
        assert [row["item_guid"] for row in await site.items(source)] == ["item-1", "item-2"]
    assert len(await site.items(by_content)) == 5
    untagged: dict[str, Any] = await site.row("select count(*) from feed_items where ai_tagged = false")
    assert untagged == {"count": 9}
