"""Asks whether a site is still there: by HEAD, and by GET where the answer to that says nothing good."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Literal

import httpx

from examples.homepage.outbound.addresses import Addresses, AddressRefused
from examples.homepage.outbound.transport import GuardedTransport

MOST_REDIRECTS = 10
PERMANENT = (301, 308)
REDIRECTS = (301, 302, 303, 307, 308)
NOT_FOR_US = (401, 403, 451)
"""Somebody is there, and does not want to show it to us."""


@dataclass(frozen=True, slots=True)
class Found:
    """How a site stands. `unclear` is neither success nor failure; `moved_to`: where permanent redirects led to."""

    outcome: Literal["alive", "failed", "unclear"]
    error: str | None = None
    moved_to: str | None = None
    enough: bool = False
    """The host has had too many requests."""
    retry_after: tuple[str, ...] = ()
    """Its headers of that name then."""


class LinkChecker:
    """`timeout` in seconds is that of one request; `most`: most requests at once.

    No host is asked for two things at once by one process, redirects included.
    """

    def __init__(self, addresses: Addresses, *, user_agent: str, timeout: float, most: int) -> None:
        self._timeout = timeout
        self._hosts: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._room = asyncio.Semaphore(most)
        self._http = httpx.AsyncClient(
            transport=GuardedTransport(addresses),
            headers={"User-Agent": user_agent},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            timeout=timeout,
            trust_env=False,
        )

    async def check(self, url: str) -> Found:
        """How the site stands. Raises nothing that a site can cause."""
        first = await self._found("HEAD", url)
        return first if first.outcome == "alive" or first.enough else await self._found("GET", url)

    async def aclose(self) -> None:
        """Close what is open."""
        await self._http.aclose()

    async def _found(self, method: str, url: str) -> Found:
        try:
            status, headers, moved_to = await self._followed(method, url)
        except (OSError, AddressRefused, httpx.HTTPError, httpx.InvalidURL, ValueError) as fault:
            return Found("failed", f"{type(fault).__name__}: {fault}"[:500].replace("\0", ""))
        if 200 <= status < 300:
            return Found("alive", moved_to=moved_to)
        if status == 429:
            return Found(
                "unclear", "http_429", enough=True, retry_after=tuple(headers.get_list("Retry-After"))
            )
        return Found("unclear" if status in NOT_FOR_US else "failed", f"http_{status}")

    async def _followed(self, method: str, url: str) -> tuple[int, httpx.Headers, str | None]:
        """The last answer's status and headers, and where the permanent redirects before any other led to."""
        here, moved_to, permanent = httpx.URL(url), None, True
        for _ in range(MOST_REDIRECTS + 1):
            status, headers = await self._asked(method, here)
            if status not in REDIRECTS or "Location" not in headers:
                return status, headers, moved_to
            here = here.join(headers["Location"])
            permanent = permanent and status in PERMANENT
            moved_to = str(here) if permanent else moved_to
        raise httpx.TooManyRedirects(f"more than {MOST_REDIRECTS} redirects")

    async def _asked(self, method: str, url: httpx.URL) -> tuple[int, httpx.Headers]:
        async with (
            self._hosts[url.netloc.decode("ascii")],
            self._room,
            asyncio.timeout(self._timeout),
            self._http.stream(method, url, follow_redirects=False) as response,
        ):
            return response.status_code, response.headers
