"""Asks for a feed: conditionally, by a name of our own, within bounds of size and time, at public addresses only."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Self

import httpx

from examples.homepage.outbound.addresses import Addresses, AddressRefused
from examples.homepage.outbound.bounded import TooLarge, read_bounded
from examples.homepage.outbound.transport import GuardedTransport
from examples.homepage.rss.faults import of_fault, of_response

MOST_REDIRECTS = 5
LONGEST_VALIDATOR = 500
ACCEPT = "application/atom+xml, application/rss+xml, application/rdf+xml, application/xml;q=0.9, text/xml;q=0.8, */*;q=0.1"


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer; `body` is None where nothing has changed since the last time. `url` is where the redirects led."""

    url: str
    body: bytes | None
    content_type: str = ""
    etag: str | None = None
    last_modified: str | None = None


class FeedFetcher:
    """`timeout` in seconds is that of the whole, and a third of it of each connect and read."""

    def __init__(
        self,
        addresses: Addresses,
        *,
        user_agent: str,
        timeout: float,
        most_bytes: int,
        most_entries: int,
    ) -> None:
        self.most_entries = most_entries
        self._timeout = timeout
        self._most_bytes = most_bytes
        self._http = httpx.AsyncClient(
            transport=GuardedTransport(addresses),
            headers={"User-Agent": user_agent, "Accept": ACCEPT, "Accept-Encoding": "gzip"},
            # One site's visit is not another's, and nothing is to be remembered of us.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=True,
            max_redirects=MOST_REDIRECTS,
            timeout=timeout / 3,
            trust_env=False,
        )

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> Fetched:
        """The feed at an address. Raises FeedError for whatever is no whole feed document."""
        headers = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        asked = {name: value for name, value in headers.items() if value}
        try:
            async with (
                asyncio.timeout(self._timeout),
                self._http.stream("GET", url, headers=asked) as response,
            ):
                return await self._answer(response, conditional=bool(asked))
        except (
            TimeoutError,
            AddressRefused,
            TooLarge,
            httpx.HTTPError,
            httpx.InvalidURL,
            ValueError,
        ) as fault:
            raise of_fault(fault) from fault

    async def _answer(self, response: httpx.Response, *, conditional: bool) -> Fetched:
        url = str(response.url)
        if response.status_code == 304 and conditional:
            return Fetched(url, None)
        if response.status_code != 200:
            raise of_response(response)
        body = await read_bounded(response.aiter_raw(), self._most_bytes)
        named = response.headers.get
        etag, modified = map(_validator, (named("ETag"), named("Last-Modified")))
        return Fetched(url, body, named("Content-Type", ""), etag, modified)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self._http.aclose()


def _validator(value: str | None) -> str | None:
    """What can be sent back as a header, as a rule."""
    fine = value is not None and value.isascii() and value.isprintable() and len(value) <= LONGEST_VALIDATOR
    return value if fine else None
