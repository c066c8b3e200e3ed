"""The way out: bounded in size and time, honest about who asks, and closed to private addresses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any

import pytest
import pytest_asyncio

from examples.homepage.outbound.addresses import Addresses
from examples.homepage.rss.errors import FeedError
from examples.homepage.rss.fetch import FeedFetcher
from examples.upstreams.feeds.documents import ODD, corpus
from examples.upstreams.feeds.server import FeedServer
from examples.upstreams.script import Answer
from tests.support.ports import unused_port

HERE = ip_network("127.0.0.1/32")
AGENT = "VillageHomepage/1.0 (+https://homepage.example/bot)"


def fetcher(addresses: Addresses | None = None, **options: Any) -> FeedFetcher:
    bounds: dict[str, Any] = {"timeout": 30.0, "most_bytes": 1_000_000, "most_entries": 1000}
    return FeedFetcher(addresses or Addresses([HERE]), user_agent=AGENT, **bounds | options)


@pytest_asyncio.fixture
async def feeds() -> AsyncIterator[FeedFetcher]:
    async with fetcher() as made:
        yield made


async def fault(made: FeedFetcher, url: str) -> FeedError:
    with pytest.raises(FeedError) as caught:
        await made.fetch(url)
    return caught.value


async def test_good_days(service: FeedServer, feeds: FeedFetcher) -> None:
    """What is asked, conditional requests, redirects, and gzip that is not what the headers say."""
    found = await feeds.fetch(f"{service.url}/redirect?to=/corpus/rss-2.0.xml")
    assert (found.body, found.url) == (
        corpus()["rss-2.0.xml"].body,
        f"{service.url}/corpus/rss-2.0.xml",
    )
    sent = service.seen["/corpus/rss-2.0.xml"]
    assert (sent["user-agent"], sent["host"]) == (AGENT, service.url.removeprefix("http://"))
    first = await feeds.fetch(f"{service.url}/cached")
    assert (first.etag, first.last_modified) == ('"first"', "Mon, 02 Mar 2026 08:00:00 GMT")
    again = await feeds.fetch(f"{service.url}/cached", etag=first.etag, last_modified=first.last_modified)
    assert again.body is None
    assert service.seen["/cached"]["if-modified-since"] == first.last_modified
    for etag in ("\N{LATIN SMALL LETTER E WITH ACUTE}", "x" * 501):
        service.headers = [("ETag", etag), ("Set-Cookie", "seen=1")]
        assert (await feeds.fetch(f"{service.url}/corpus/podcast.xml")).etag is None
    assert "cookie" not in service.seen["/corpus/podcast.xml"]
    for name in ("gzip-not-said", "gzip-only-said"):
        packed = await feeds.fetch(f"{service.url}/odd/{name}")
        assert packed.body == ODD["gzip-only-said"].body


async def test_bad_days_by_type(service: FeedServer, feeds: FeedFetcher) -> None:
    """The labels of `rss.fetch.errors.total`."""
    kinds = {
        "/status/404": "http_404", "/status/410": "http_410", "/status/500": "http_500", "/status/304": "http_304",
        "/status/204": "http_204", "/loop": "too_many_redirects", "/huge/1100000": "too_large",
        "/redirect?to=file:///etc/passwd": "unsupported_url", "/redirect?to=gopher://x/": "unsupported_url",
    }  # fmt: skip
    for path, kind in kinds.items():
        error = await fault(feeds, service.url + path)
        assert (path, error.error_type) == (path, kind)
    service.days["/mute"] = [Answer(body="none")]
    assert (await fault(feeds, f"{service.url}/mute")).error_type == "connection_error"
    assert (await fault(feeds, f"http://127.0.0.1:{unused_port()}/")).error_type == "connection_error"
    assert (await fault(feeds, "http://no-such-host.invalid/")).error_type == "connection_error"
    service.days["/busy"] = [Answer(status=429, retry_after="120\n60")]
    busy = await fault(feeds, f"{service.url}/busy")
    assert (busy.error_type, busy.status, busy.retry_after) == ("http_429", 429, ["120", "60"])
    for url in ("nonsense", "http://", "http://[::1"):
        assert (await fault(feeds, url)).error_type == "unsupported_url"


PRIVATE = (
    "http://127.0.0.2:{port}/", "http://[::1]:{port}/", "http://0x7f000002:{port}/", "http://2130706434:{port}/",
    "http://127.2:{port}/", "http://[::ffff:127.0.0.2]:{port}/", "http://0.0.0.0:{port}/", "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data/", "http://192.168.1.1/", "http://[fe80::1]/", "http://[fd00::1]/",
    "http://[64:ff9b::7f00:2]/", "http://[2002:7f00:0002::1]/", "http://100.64.0.1/", "http://224.0.0.1/",
    "http://[ff02::1]/", "http://user:pw@127.0.0.2:{port}/",
)  # fmt: skip


async def test_private_addresses_are_refused(service: FeedServer, feeds: FeedFetcher) -> None:
    """At once, and where a public server leads there."""
    for form in PRIVATE:
        url = form.format(port=service.server_address[1])
        for asked in (url, f"{service.url}/redirect?to={url}"):
            error = await fault(feeds, asked)
            assert error.error_type == "address_refused", (asked, error)
    assert service.asked == {"/redirect": len(PRIVATE)}


async def test_names(service: FeedServer) -> None:
    """Every address of a name is looked at, and the connection goes to the very one that was: DNS that changes its mind leads
    nowhere else."""
    asked: list[str] = []

    async def changing(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.7"]

    async def mixed(host: str, port: int) -> list[str]:
        return ["10.0.0.7", "127.0.0.1"]

    port = service.server_address[1]
    async with fetcher(Addresses([HERE], changing)) as made:
        await made.fetch(f"http://feed.example:{port}/corpus/atom-1.0.xml")
        assert asked == ["feed.example"], "one look-up for a check and a connection"
        assert service.seen["/corpus/atom-1.0.xml"]["host"] == f"feed.example:{port}"
        assert (await fault(made, f"http://feed.example:{port}/")).error_type == "address_refused"
    async with fetcher(Addresses([HERE], mixed)) as made:
        assert (await made.fetch(f"http://feed.example:{port}/corpus/atom-1.0.xml")).body
    guard = Addresses()
    assert [guard.permits(one) for one in ("93.184.215.14", "2606:2800:21f:cb07::1", "::ffff:8.8.8.8")] == [
        True
    ] * 3
    assert not any(map(guard.permits, ("127.0.0.1", "::", "240.0.0.1", "fe80::1%eth0", "nonsense")))


async def test_the_whole_has_a_time(service: FeedServer) -> None:
    """A server that sends a byte now and then is left after the time of the whole; one that does not answer, sooner."""
    async with fetcher(timeout=0.4) as made:
        service.days["/slow"] = [Answer(delay=0.5)]
        async with asyncio.timeout(20):
            errors = await asyncio.gather(*(fault(made, service.url + path) for path in ("/drip", "/slow")))
    assert {error.error_type for error in errors} == {"HttpTimeoutException"}
