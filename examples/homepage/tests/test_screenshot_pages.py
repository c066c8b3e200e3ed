"""What becomes of each kind of page: a picture, or an error with a name. One browser goes through them all."""

from __future__ import annotations

import io
from ipaddress import ip_network

import pytest
from PIL import Image

from examples.homepage.outbound.addresses import Addresses
from examples.homepage.screenshots.capture import capture
from examples.homepage.screenshots.errors import CaptureError
from examples.homepage.screenshots.settings import ScreenshotSettings
from examples.homepage.screenshots.thumbnail import thumbnail
from examples.homepage.tests.wild import Names, eyes, wild_pages

CAPTURED = {
    "/good": "A page", "/late": "late?", "/tall": "A page", "/lies": "A page", "/infinite-scroll": "A page",
    "/pop-ups": "A page", "/dialogs": "told", "/close": "still here", "/file": "still here", "/internals": "still here",
    "/keep-alive": "kept", "/hints": "A page", "/to?url=/good": "A page",
    "/many": "A page …", "/endless": "endless …", "/flood": "flood …", "/cut": "cut …",
}  # fmt: skip
FAILED = {
    "/status/404": "http_404", "/status/503": "http_503", "/status/401": "login_wanted", "/status/407": "login_wanted",
    "/silent": "navigation_timeout", "/redirects": "too_many_redirects", "/refresh-loop": "restless",
    "/download": "not_a_page", "/empty": "not_a_page", "/garbage": "navigation_failed", "/crash": "page_crashed",
    "/away": "address_refused", "/to?url=file:///etc/passwd": "navigation_failed",
}  # fmt: skip


FEW = ("/pop-ups", "/late", "/dialogs", "/keep-alive", "/flood", "/status/404", "/download", "/crash")


@pytest.mark.parametrize(
    "paths",
    [pytest.param(FEW, id="few"), pytest.param((*CAPTURED, *FAILED), id="all", marks=pytest.mark.long)],
)
async def test_each_kind_of_page(paths: tuple[str, ...]) -> None:
    """In one browser, each in a window of its own. How high and how many it is, is not for a page to say."""
    expected = CAPTURED | {path: f"! {kind}" for path, kind in FAILED.items()}
    names = Names({f"site{n}.example": [["127.0.0.1"]] for n in range(20)})
    with wild_pages() as pages:
        async with eyes("127.0.0.1", names=names) as seen:
            found = {path: await seen.outcome(pages.url + path) for path in paths}
            assert found == {path: expected[path] for path in paths}
            before = pages.asked["/good"]
            assert before < 20, "of two hundred windows none was opened"
            tall = await seen.look(f"{pages.url}/tall")
            with Image.open(io.BytesIO(tall.png)) as whole:
                assert whole.size == (1280, 2400)
            with Image.open(io.BytesIO(thumbnail(tall.png).webp)) as small:
                assert (small.format, small.size) == ("WEBP", (640, 1200))
            await seen.look(f"{pages.url}/frames")
            assert pages.asked["/good"] == before + 20
            session = await seen.browser.new_browser_cdp_session()
            told = await session.send("SystemInfo.getProcessInfo")
            renderers = [one for one in told["processInfo"] if one["type"] == "renderer"]
            assert len(renderers) <= 3, "frames of twenty sites share a process"


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("file:///etc/passwd", "bad_address"), ("chrome://crash", "bad_address"), ("data:text/html,x", "bad_address"),
        ("about:blank", "bad_address"), ("http://", "bad_address"), ("http://[", "bad_address"), ("", "bad_address"),
        ("http://x:99999/", "bad_address"), ("view-source:http://example.org", "bad_address"),
        ("http://127.0.0.1/", "address_refused"), ("http://0x7f000001/", "address_refused"),
        ("http://[::ffff:10.0.0.1]/", "address_refused"), ("https://169.254.169.254/latest", "address_refused"),
    ],
)  # fmt: skip
async def test_what_needs_no_browser(url: str, kind: str) -> None:
    settings = ScreenshotSettings(browser="/nowhere/chromium")
    with pytest.raises(CaptureError, match=f"^{kind}: ") as refused:
        await capture(url, settings, Addresses())
    assert (refused.value.retryable, url[:200] in str(refused.value)) == (False, True)


async def test_a_browser_that_does_not_start_is_an_error_of_the_capture() -> None:
    """With the address, for whoever is told of it."""
    with wild_pages() as pages:
        settings = ScreenshotSettings(browser="/bin/false")
        with pytest.raises(CaptureError, match=f"^browser_failed: {pages.url}/good: ") as failed:
            await capture(f"{pages.url}/good", settings, Addresses([ip_network("127.0.0.1")]))
    assert failed.value.retryable
