"""Chromium, one for each capture: nothing of a page is there for the next one, and nothing leads around the proxy."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, Page, ViewportSize, async_playwright

VIEW = ViewportSize(width=1280, height=800)
_CLOSE_SECONDS = 5.0

FLAGS = (
    # All names are the proxy's business: Chromium itself asks for none, not even to be quick later.
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    # What is UDP does not go by a proxy.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # A page with frames of a hundred sites has one process for them: there is nothing of theirs to be kept apart.
    "--disable-site-isolation-trials",
    "--js-flags=--max-old-space-size=512",
    "--disable-gpu",
)


@asynccontextmanager
async def browser(executable: str, proxy_port: int, folder: Path) -> AsyncIterator[Browser]:
    """A browser whose only way out is that proxy, and whose files are in `folder`.

    What does not close in time is left to whoever ends this process with all that it has started.
    """
    driver = await async_playwright().start()
    made: Browser | None = None
    try:
        made = await driver.chromium.launch(
            executable_path=shutil.which(executable) or executable,
            # Its sandbox wants rights that a container's root does not have.
            chromium_sandbox=os.geteuid() != 0,
            args=[*FLAGS, f"--proxy-server=http://127.0.0.1:{proxy_port}"],
            # With this default of Playwright's a page may open as many windows as it likes.
            ignore_default_args=["--disable-popup-blocking"],
            env=_environment(folder),
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
        yield made
    finally:
        with contextlib.suppress(Exception):  # it may be dead, which is what we want
            async with asyncio.timeout(_CLOSE_SECONDS):
                if made is not None:
                    await made.close()
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await driver.stop()


def _environment(folder: Path) -> dict[str, str | float | bool]:
    """No secrets: they are none of its business."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
    return {**kept, "HOME": str(folder), "TMPDIR": str(folder)}


@asynccontextmanager
async def window(browser: Browser) -> AsyncIterator[Page]:
    """A page without a past. It downloads nothing, and windows that it opens are closed; dialogs Playwright dismisses."""
    context = await browser.new_context(viewport=VIEW, accept_downloads=False)
    closing: set[asyncio.Task[None]] = set()

    def another(opened: Page) -> None:
        task = asyncio.create_task(_closed(opened))
        closing.add(task)
        task.add_done_callback(closing.discard)

    try:
        page = await context.new_page()
        context.on("page", another)
        yield page
    finally:
        await _closed(context)
        await asyncio.gather(*closing)


async def _closed(it: Page | BrowserContext) -> None:
    with contextlib.suppress(Exception):
        async with asyncio.timeout(_CLOSE_SECONDS):
            await it.close()
