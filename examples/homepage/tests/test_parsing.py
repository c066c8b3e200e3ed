"""The corpus and its odd relatives: each parses or fails as it is said here, and nothing but the document is read."""

from __future__ import annotations

import asyncio
import gzip
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import md5
from typing import Any

import psutil
import pytest

from examples.homepage.outbound.bounded import TooLarge, read_bounded
from examples.homepage.rss import apart
from examples.homepage.rss.errors import FeedError
from examples.homepage.rss.parse import Parsed, parse
from examples.upstreams.feeds.documents import HOPELESS, ODD, Document, corpus, endless, huge, item, rss
from tests.support.workers import until

CORPUS = {
    # file: (entries, entries without title or URL)
    "atom-0.3.xml": (1, 0), "atom-1.0.xml": (2, 0), "podcast.xml": (2, 0), "rss-0.90.rdf": (2, 0),
    "rss-0.91.xml": (2, 0), "rss-0.92.xml": (1, 1), "rss-1.0.rdf": (2, 0), "rss-2.0.xml": (3, 3),
}  # fmt: skip
TITLES = {
    "utf-8-undeclared": "Café, crème", "latin-1-undeclared": "Café, crème", "gb18030": "新闻 一",
    "says-utf-8-is-latin-1": "Café, crème", "says-latin-1-is-utf-8": "Café, crème", "utf-16": "Café, crème",
    "nbsp": "Item\N{NO-BREAK SPACE}1", "beyond-unicode": "Item \ufffd1", "surrogate": "Item \ufffd1",
    "nul": "Item \ufffd 1", "backslash-entity": "Item &place; 1", "external-entity": "Item &secret; 1",
    "entity-bomb": "Item &l9; 1",
}  # fmt: skip
COUNTS = {"truncated": 3, "unclosed-tags": 1, "no-items": 0, "odd-dates": 6}
BROKEN = {
    "nbsp", "nul", "backslash-entity", "external-entity", "entity-bomb", "leading-blank-lines", "truncated",
    "unclosed-tags", "gzip-cut-off",
}  # fmt: skip


def parses_apart() -> bool:
    """Whether a child of this process parses."""
    for child in psutil.Process().children():
        with suppress(psutil.Error):  # it has just ended
            if apart.__name__ in child.cmdline():
                return True
    return False


async def one(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def read(document: Document, most: int = 1000) -> Parsed:
    async def chunks() -> AsyncIterator[bytes]:  # as the network has them: the first byte by itself
        for part in (document.body[:1], document.body[1:]):
            yield part

    body = await read_bounded(chunks(), 5_000_000)
    return parse(body, url="https://news.example/feed", content_type=document.content_type, most=most)


async def test_every_format_of_the_corpus() -> None:
    documents = corpus()
    assert documents.keys() == CORPUS.keys()
    found = {name: await read(document) for name, document in documents.items()}
    assert {name: (len(it.entries), len(it.missing)) for name, it in found.items()} == CORPUS
    assert [name for name, it in found.items() if it.fault] == []

    first, second, third = found["rss-2.0.xml"].entries
    assert (first.title, first.guid) == ("Flour & water: it's all you need", "miller-1001")
    assert first.published_at == datetime(2026, 3, 2, 8, 15, tzinfo=UTC)
    assert first.description == "<p>A <b>short</b> text.</p>", "scripts are no text"
    assert 'href="https://news.example/bread"' in first.content
    assert first.content_hash == md5((first.title + first.description).encode()).hexdigest()
    assert second.published_at == datetime(2026, 3, 3, 7, 15, tzinfo=UTC)
    assert third.url == third.guid == "https://miller.example/2026/guid-only"
    assert found["rss-2.0.xml"].missing == ["miller-1004", "miller-1005", "miller-1006"]
    wind, only_updated = found["atom-1.0.xml"].entries
    assert wind.url == "https://notes.example/wind"
    assert only_updated.published_at == datetime(2026, 3, 5, 8, tzinfo=UTC)
    assert found["podcast.xml"].entries[0].url == "https://cdn.grist.example/1.mp3"
    assert [entry.guid for entry in found["rss-0.91.xml"].entries] == [None, None]


async def test_what_is_odd_is_kept_as_far_as_it_can_be_read() -> None:
    found = {name: await read(document) for name, document in ODD.items()}
    for name, parsed in found.items():
        assert len(parsed.entries) == COUNTS.get(name, 1) or (
            name == "gzip-cut-off" and len(parsed.entries) > 50
        )
        assert (parsed.fault is not None) == (name in BROKEN), (name, parsed.fault)
        for entry in parsed.entries:
            f"{entry.title}{entry.content}".encode()
            assert "\0" not in entry.title
            assert "root:" not in entry.title, "no file is read"
    assert {name: found[name].entries[0].title for name in TITLES} == TITLES
    dates = [entry.published_at for entry in found["odd-dates"].entries]
    eight = datetime(2026, 3, 2, 8, tzinfo=UTC)
    assert dates == [eight, eight.replace(hour=16), None, None, None, None]


@pytest.mark.parametrize("name", HOPELESS)
async def test_what_is_no_feed_is_an_error_with_its_reason(name: str) -> None:
    with pytest.raises(FeedError) as caught:
        await read(HOPELESS[name])
    assert caught.value.error_type == "parse_error"
    assert caught.value.retryable
    assert len(str(caught.value)) > len("parse_error: ")


async def test_the_limits() -> None:
    """Of entries and of bytes, also of what is packed."""
    many = await read(Document(rss(item(n) for n in range(30)).encode()), most=12)
    assert (len(many.entries), many.found, many.left_out) == (12, 12, 18)
    assert many.entries[-1].guid == "item-11"
    for body in (b"x" * 1001, gzip.compress(b"x" * 10_000_000, 1)):
        with pytest.raises(TooLarge):
            await read_bounded(one(body), 1000)
    assert await read_bounded(one(gzip.compress(b"x" * 1000)), 1000) == b"x" * 1000


async def test_a_document_that_takes_the_square_of_its_length() -> None:
    """A large document is parsed in a process, which is ended in time; what comes back is what a thread would have made."""
    about: dict[str, Any] = {"url": "https://news.example/", "content_type": "text/xml", "most": 1000}
    document = rss([*map(item, range(20)), item(20, title="", description="x" * apart.SMALL)]).encode()
    assert await apart.parse_apart(document, **about) == parse(document, **about)
    with pytest.raises(FeedError, match="parse_error: SAXParseException"):
        await apart.parse_apart(b"<" * apart.SMALL * 2, **about)
    busy = asyncio.create_task(apart.parse_apart(endless(1_000_000), **about))
    await until(parses_apart)
    busy.cancel()
    with pytest.raises(asyncio.CancelledError):
        await busy
    assert not parses_apart()
    with pytest.raises(FeedError, match="takes more than 20 s"):
        apart._read(b"", -signal.SIGXCPU)


@pytest.mark.long
async def test_the_process_is_ended_after_its_seconds() -> None:
    with pytest.raises(FeedError, match="takes more than 20 s"):
        await apart.parse_apart(endless(1_000_000), url="https://x.example/", content_type="text/xml", most=9)


@pytest.mark.long
async def test_a_feed_of_ten_megabytes() -> None:
    """Beyond the usual bound; whoever raises that gets the first of its entries."""
    with pytest.raises(TooLarge):
        await read_bounded(one(huge(10_000_000)), 5 * 1024 * 1024)
    body = await read_bounded(one(huge(10_000_000)), 20_000_000)
    parsed = parse(body, url="https://news.example/", content_type="text/xml", most=1000)
    assert (len(parsed.entries), parsed.fault) == (1000, None)
    assert parsed.left_out > 5000
