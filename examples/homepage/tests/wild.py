"""The pages of the world for the tests of screenshots, a browser that is shared, and what is left of browsers."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path

import psutil
import pytest
from playwright.async_api import Browser

from examples.homepage.outbound.addresses import Addresses, system_addresses
from examples.homepage.screenshots.browser import browser, window
from examples.homepage.screenshots.errors import CaptureError
from examples.homepage.screenshots.proxy import ForwardProxy
from examples.homepage.screenshots.settings import ScreenshotSettings
from examples.homepage.screenshots.visit import Shot, Visit
from examples.upstreams.wild_pages.server import WildPages
from tests.support.eventually import eventually
from tests.support.processes import working_in

SHORT = ScreenshotSettings(timeout=60, patience=3, most_bytes=3_000_000)


@contextmanager
def wild_pages(elsewhere: str = "127.0.0.2:8000") -> Iterator[WildPages]:
    """The stand-in, while it serves."""
    if shutil.which("chromium") is None:
        pytest.skip("not run: there is no chromium; apt-get install chromium")
    server = WildPages(elsewhere=elsewhere)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="wild pages")
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Names:
    """Answers of a resolver by host, one list after another, the last for ever; others are asked of the system."""

    answers: dict[str, list[list[str]]] = field(default_factory=dict)

    async def resolve(self, host: str, port: int) -> list[str]:
        """See `outbound.addresses.Resolve`."""
        left = self.answers.get(host)
        if left is None:
            return await system_addresses(host, port)
        return left.pop(0) if len(left) > 1 else left[0]


@dataclass
class Eyes:
    """One browser, in which page after page is looked at."""

    browser: Browser
    proxy: ForwardProxy

    async def look(self, url: str, settings: ScreenshotSettings = SHORT) -> Shot:
        """A page in a window of its own; within the bound of bytes, each."""
        self.proxy.passed = 0
        async with window(self.browser) as page:
            return await Visit(page, self.proxy, url, settings).shot()

    async def outcome(self, url: str) -> str:
        """Its title, with `…` where it is not whole; or the kind of error."""
        try:
            shot = await self.look(url)
        except CaptureError as error:
            return f"! {error.kind}" if url in str(error) else str(error)
        return shot.title if shot.whole else f"{shot.title} …"


@asynccontextmanager
async def eyes(*allowed: str, names: Names | None = None) -> AsyncIterator[Eyes]:
    """A browser that may see these networks besides the public ones."""
    addresses = Addresses(map(ip_network, allowed), (names or Names()).resolve)
    with short_folder() as folder:
        async with (
            ForwardProxy(addresses, SHORT.most_bytes) as proxy,
            browser(SHORT.browser, proxy.port, folder) as chromium,
        ):
            yield Eyes(chromium, proxy)


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder with a path that is short enough for the sockets that Chromium makes in it; nothing works in it at the end."""
    with tempfile.TemporaryDirectory(prefix="shots-", dir="/tmp") as name:
        yield Path(name)
        eventually(lambda: not browsers(Path(name)), what="end of all browsers")


def browsers(folder: Path) -> list[str]:
    """Processes that have to do with the folder, and zombies below this one."""
    dead = []
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            if one.status() == psutil.STATUS_ZOMBIE:
                dead.append(one.name())
    return working_in(folder) + dead
