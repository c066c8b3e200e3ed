"""One page in one window: what it answers, and its picture."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Error, FloatRect, Frame, Page, Request, Response
from playwright.async_api import TimeoutError as TooLate

from examples.homepage.screenshots.browser import VIEW
from examples.homepage.screenshots.errors import CaptureError
from examples.homepage.screenshots.faults import named
from examples.homepage.screenshots.proxy import ForwardProxy
from examples.homepage.screenshots.settings import ScreenshotSettings

_QUIET_SECONDS = 2.0
"""How long scripts may go on to load after the page has: many make a page's content only then."""


@dataclass(frozen=True, slots=True)
class Shot:
    """`whole`: the page had loaded in time. `url` is where redirects have led to."""

    png: bytes
    url: str
    title: str
    status: int
    whole: bool


class Visit:
    """Takes one picture. What the page does later than it was asked (going elsewhere, crashing) counts, too."""

    def __init__(self, page: Page, proxy: ForwardProxy, url: str, settings: ScreenshotSettings) -> None:
        self._page = page
        self._proxy = proxy
        self._url = url
        self._settings = settings
        self._asked = url
        self._answer: Response | None = None
        self._lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def shot(self) -> Shot:
        """Raises CaptureError."""
        page, browser = self._page, self._page.context.browser
        page.on("request", self._requested)
        page.on("response", self._answered)
        page.on("crash", lambda _: self._lose("page_crashed", "its process has died"))
        page.on("close", lambda _: self._lose("browser_lost", "the window is gone"))
        if browser is not None:
            browser.on("disconnected", lambda _: self._lose("browser_lost", "the browser has died"))
        work = asyncio.create_task(self._shot())
        try:
            ends: set[asyncio.Future[Any]] = {work, self._lost}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if self._lost.done():
                self._lost.result()
            return await work
        except Error as fault:
            raise self._named(fault) from fault
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _shot(self) -> Shot:
        page, settings = self._page, self._settings
        try:
            await page.goto(self._url, wait_until="commit", timeout=settings.patience * 1000)
        except TooLate as late:
            why = f"no answer within {settings.patience:g} s"
            raise CaptureError("navigation_timeout", self._url, why) from late
        whole = await self._loaded("load", settings.patience)
        if whole:
            await self._loaded("networkidle", _QUIET_SECONDS)
        height = await page.evaluate("document.documentElement?.scrollHeight")
        title = await page.title()
        png = await page.screenshot(full_page=True, clip=self._clip(height), animations="disabled", timeout=0)
        status = self._status()
        whole = whole and not self._proxy.exceeded
        return Shot(png, _storable(page.url, 4000), _storable(title, 500), status, whole)

    async def _loaded(self, state: str, seconds: float) -> bool:
        try:
            await self._page.wait_for_load_state(state, timeout=seconds * 1000)  # type: ignore[arg-type]
        except TooLate:
            return False
        return True

    def _clip(self, height: object) -> FloatRect:
        """Whatever the page says of its height."""
        least, most = VIEW["height"], self._settings.most_height
        tall = height if isinstance(height, int | float) and height == height else least
        return FloatRect(x=0, y=0, width=VIEW["width"], height=int(min(max(tall, least), most)))

    def _status(self) -> int:
        """That of the page which is in the picture. Raises CaptureError where that is no page at all."""
        if self._page.url.startswith("chrome-error:"):
            raise self._named(Error(f"{self._asked} could not be loaded"))
        if self._answer is None:
            raise CaptureError("not_a_page", self._url, "there is no answer of a server")
        status = self._answer.status
        if status >= 400:
            wait = self._answer.headers.get("retry-after")
            why = f"the server answered {status} {self._answer.status_text}".rstrip()
            raise CaptureError(f"http_{status}", self._url, why, retry_after=[wait] if wait else None)
        return status

    def _named(self, fault: Error) -> CaptureError:
        blamed = self._proxy.faults.get(urlsplit(self._asked).hostname or "")
        return named(fault, self._url, blamed, exceeded=self._proxy.exceeded)

    def _lose(self, kind: str, why: str) -> None:
        if not self._lost.done():
            self._lost.set_exception(CaptureError(kind, self._url, why))
            self._lost.exception()  # it is nobody's fault where nobody asks

    def _requested(self, request: Request) -> None:
        if self._is_page(request):
            self._asked = request.url

    def _answered(self, response: Response) -> None:
        if self._is_page(response.request):
            self._answer = response

    def _is_page(self, request: Request) -> bool:
        if not request.is_navigation_request():
            return False
        try:
            frame: Frame = request.frame
        except Error:  # a window that is just being opened
            return False
        return frame == self._page.main_frame


def _storable(text: str, most: int) -> str:
    """What a page may say, and no database can keep, is left out."""
    return text[:most].replace("\0", "").encode(errors="replace").decode()
