"""Debian's Chromium, without a window; and screens in it that notice every fault of a page."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

WIDE, NARROW = (1280, 800), (390, 844)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A browser; skips the test where it is not installed."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("not run: there is no chromium; apt-get install chromium")
    async with async_playwright() as playwright:
        # Its sandbox wants rights that a container's root does not have; it sees pages of ours only.
        browser = await playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Screen:
    """One window with cookies of its own. `faults`: errors of scripts, blocked by the CSP, failed requests, console errors."""

    context: BrowserContext
    page: Page
    base: str
    faults: list[str] = field(default_factory=list)

    async def go(self, path: str) -> None:
        """A page; it must answer 200."""
        answer = await self.page.goto(self.base + path)
        assert answer is not None
        assert answer.status == 200, f"{path}: {answer.status}\n{await answer.text()}"

    async def another(self) -> Page:
        """A page in a window of its own, in front like the first: of the tabs behind it Chromium draws a frame a second."""
        browser = self.context.browser
        assert browser is not None
        of_this = await self.context.new_cdp_session(self.page)
        told = await of_this.send("Target.getTargetInfo")
        of_all = await browser.new_browser_cdp_session()
        async with self.context.expect_page() as made:
            await of_all.send(
                "Target.createTarget",
                {
                    "url": "about:blank",
                    "newWindow": True,
                    "browserContextId": told["targetInfo"]["browserContextId"],
                },
            )
        await of_all.detach()
        await of_this.detach()
        return await made.value

    async def follow(self, selector: str) -> None:
        """Press what leads to another page, and have the whole of it: a click alone may end while it is half read."""
        async with self.page.expect_navigation():
            await self.page.click(selector)

    def check(self) -> None:
        """No fault so far."""
        assert self.faults == [], self.faults


@asynccontextmanager
async def screen(
    browser: Browser,
    base: str,
    token: str | None = None,
    *,
    size: tuple[int, int] = WIDE,
    dark: bool = False,
    **more: Any,
) -> AsyncIterator[Screen]:
    """A window, logged in by a link's token; `more` are options of the context (`java_script_enabled`, …)."""
    context = await browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light", **more
    )
    try:
        page = await context.new_page()
        made = Screen(context, page, base)
        # That the machine's network changed (another program made an interface) is no fault of a page.
        page.on("pageerror", lambda error: made.faults.append(f"error: {error}"))
        page.on(
            "console",
            lambda said: (
                made.faults.append(f"console: {said.text} {said.location.get('url', '')}")
                if said.type in ("error", "warning") and "ERR_NETWORK_CHANGED" not in said.text
                else None
            ),
        )
        page.on("dialog", lambda dialog: made.faults.append(f"dialog: {dialog.message}"))
        if token is not None:
            # For the cookie; the page that it leads to is not wanted yet.
            entered = await context.request.get(f"{base}/login?token={token}", max_redirects=0)
            assert entered.status == 303, await entered.text()
        yield made
    finally:
        await context.close()
