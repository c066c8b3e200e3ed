"""From an address to a thumbnail, within a time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.async_api import Error

from examples.homepage.outbound.addresses import Addresses, AddressRefused
from examples.homepage.screenshots.browser import browser, window
from examples.homepage.screenshots.errors import CaptureError
from examples.homepage.screenshots.faults import named, unreachable
from examples.homepage.screenshots.proxy import ForwardProxy
from examples.homepage.screenshots.scratch import scratch
from examples.homepage.screenshots.settings import ScreenshotSettings
from examples.homepage.screenshots.thumbnail import Thumbnail, thumbnail
from examples.homepage.screenshots.visit import Shot, Visit


@dataclass(frozen=True, slots=True)
class Capture:
    """What was seen, and its small form."""

    shot: Shot
    thumbnail: Thumbnail


async def capture(url: str, settings: ScreenshotSettings, addresses: Addresses) -> Capture:
    """Start a browser, look at the page, end the browser. For a process of its own, which may be killed at any time.

    Raises CaptureError.
    """
    host, port = checked(url)
    try:
        async with asyncio.timeout(settings.timeout):
            await _known(url, host, port, addresses)
            shot = await _look(url, settings, addresses)
    except Error as fault:
        raise named(fault, url) from fault
    except TimeoutError as late:
        why = f"no picture within {settings.timeout:g} s"
        raise CaptureError("capture_timeout", url, why) from late
    return Capture(shot, thumbnail(shot.png))


async def _look(url: str, settings: ScreenshotSettings, addresses: Addresses) -> Shot:
    with scratch() as folder:
        async with (
            ForwardProxy(addresses, settings.most_bytes) as proxy,
            browser(settings.browser, proxy.port, folder) as chromium,
            window(chromium) as page,
        ):
            return await Visit(page, proxy, url, settings).shot()


async def _known(url: str, host: str, port: int, addresses: Addresses) -> None:
    """Spares a browser where there is nobody to ask. What it asks for later the proxy looks up again."""
    try:
        await addresses.of(host, port)
    except (AddressRefused, OSError, UnicodeError) as fault:
        raise unreachable(url, fault) from fault


def checked(url: str) -> tuple[str, int]:
    """Host and port. Raises CaptureError for what is no address of a page: file:, chrome:, data: and the like."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        host = port = None
    if not host or not port or parts.scheme not in ("http", "https"):
        raise CaptureError("bad_address", url[:500], "it is no address of http or https")
    return host, port
