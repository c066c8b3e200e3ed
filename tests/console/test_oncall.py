"""A night on call in Debian's Chromium: by keyboard alone, without scripts, and while everything changes meanwhile."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from postmill.bind import adrive
from postmill.domain.access import Role
from postmill.operate import commands
from tests.console.living import living
from tests.console.serving import Live, serving
from tests.support.chromium import Screen, chromium, screen
from tests.support.databases import Database
from tests.support.eventually import aeventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

STOPS = 150
"""Presses of Tab within which everything of a page must be reached."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def live(console_database: Database) -> AsyncIterator[Live]:
    async with serving(console_database) as made, living(console_database, made.owner) as ids:
        made.tenants |= ids
        made.hub.gap = 0.1
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as made:
        yield made


class Keys:
    """Somebody without a mouse. `clicks`: how often something was pressed that acts."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    async def go_to(self, selector: str, text: str = "") -> None:
        """Tab until the focus is there, unless the page has put it there; it must be seen where it is."""
        for stop in range(STOPS):
            if stop:
                await self.page.keyboard.press("Tab")
            at = await self.page.evaluate(
                """([selector, text]) => {
                    const one = document.activeElement;
                    if (!one.matches(selector) || !(one.textContent + (one.ariaLabel ?? '')).includes(text)) return null;
                    const box = one.getBoundingClientRect(), style = getComputedStyle(one);
                    const top = document.elementFromPoint(box.left + Math.min(8, box.width / 2), box.top + box.height / 2);
                    return {ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1,
                            free: one === top || one.contains(top) || top?.contains(one)};
                }""",
                [selector, text],
            )
            if at is not None:
                assert at["ring"], f"{selector} {text}: the focus is not seen"
                assert at["free"], f"{selector} {text}: something lies over the focus"
                return
        raise AssertionError(f"{selector} {text} was not reached on {self.page.url}")

    async def skip(self) -> None:
        """Past what is around the page's own part, by the first thing that Tab comes to."""
        await self.page.keyboard.press("Tab")
        assert await self.page.evaluate("document.activeElement.matches('a.skip')")
        await self.page.keyboard.press("Enter")
        await self.page.wait_for_function("document.activeElement.id === 'main'")

    async def press(self, key: str = "Enter", *, leads: str | None = None) -> None:
        """A click by key; `leads`: what the address becomes."""
        self.clicks += 1
        if leads is None:
            await self.page.keyboard.press(key)
            return
        async with self.page.expect_navigation(url=re.compile(leads)):
            await self.page.keyboard.press(key)


async def test_acts_are_a_skip_away(live: Live, browser: Browser) -> None:
    """By keyboard: two skip links, then what can be done; on a telephone everything of an incident is within the window."""
    async with screen(browser, live.url, await live.token()) as window:
        page = window.page
        await window.go("/ops")
        group = await page.get_attribute("#part-incidents td a[href*='/ops/errors/']", "href")
        await window.go(group or "")
        for _ in range(2):
            await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.textContent") == "Skip to the actions"
        await page.keyboard.press("Enter")
        met = []
        for _ in range(2):
            await page.keyboard.press("Tab")
            met.append(await page.evaluate("document.activeElement.textContent"))
        assert met == ["Replay…", "Pause job type…"]
        await page.set_viewport_size({"width": 390, "height": 800})
        await window.go("/ops")
        beside = """[...document.querySelectorAll('#incidents tbody :is(a, button, summary, td, th)')]
                    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth).length"""
        assert await page.evaluate(beside) == 0
        window.check()


async def test_from_the_verdict_to_a_running_replay_by_keyboard(live: Live, browser: Browser) -> None:
    """The design's walk (4.3): at most three clicks to the cause, six to a replay that runs; then the type is paused."""
    async with screen(browser, live.url, await live.token(Role.SUPER_ADMIN)) as window:
        page, keys = window.page, Keys(window.page)
        await window.go("/ops")
        verdict = await page.inner_text("#part-verdict")
        assert "error groups are new" in verdict
        assert await page.evaluate(
            "document.querySelector('#part-incidents table').getBoundingClientRect().top < innerHeight"
        )
        await keys.go_to("#part-incidents td a[href*='/ops/errors/']", "TimeoutError")
        await keys.press(leads="/ops/errors/")
        assert keys.clicks <= 3
        cause = await page.inner_text("main")
        assert "TimeoutError" in cause
        assert "ChargeInvoice" in cause
        assert "What do the failures share?" in cause
        group = page.url
        await keys.press("r", leads="/ops-log/new")
        assert "36 jobs" in await page.inner_text("main")
        for step in ("How", "Canary", "Confirm"):
            await keys.go_to("main button[type=submit]", f"On to: {step}")
            await keys.press(leads="/ops-log/new")
        await keys.go_to("#reason")
        await page.keyboard.type("the payment service is back")
        await keys.go_to("main button[type=submit]", "(36)")
        await keys.press(leads="/ops-log/[0-9a-f-]{36}$")
        assert keys.clicks <= 6
        assert "It begins in" in await page.inner_text("main")
        states = await live.owner.execute("select kind, status, total from postmill.operation")
        assert await states.fetchall() == [("replay", "running", 36)]
        # Back at the cause: nothing more of it starts for an hour.
        await page.goto(group)
        await keys.skip()
        await keys.go_to("main summary", "Pause job type")
        await keys.press()
        # What is typed goes into the panel's first field, and from a button of it no key leads elsewhere.
        await page.keyboard.type("until it is rolled back by gq")
        assert await page.input_value("#pause-reason") == "until it is rolled back by gq"
        await keys.go_to("main button", "Pause")
        await page.keyboard.type("gqx")
        assert page.url.partition("#")[0] == group
        await page.focus("#pause-reason")
        await keys.go_to("main button", "Pause")
        await keys.press(leads="/ops/errors/")
        assert "is paused" in await page.inner_text("main")
        window.check()


async def test_without_scripts(live: Live, browser: Browser) -> None:
    """List, filter, open, cancel, replay one, and the wizard, as plain pages and forms."""
    token = await live.token(Role.TENANT_ADMIN, "globex")
    async with screen(browser, live.url, token, java_script_enabled=False) as window:
        page = window.page
        await window.go("/t/globex/jobs")
        assert await page.locator("tr[id^=job-]").count() > 10
        await page.fill("#query", "state:scheduled type:Nightly")
        async with page.expect_navigation():
            await page.press("#query", "Enter")
        assert await page.locator("tr[id^=job-]").count() == 1
        await window.follow("tr[id^=job-] a")
        assert "/t/globex/jobs/" in page.url
        assert "Nightly" in await page.inner_text("main")
        # The pages are behind a button that is the browser's own, where the window is narrow.
        await page.set_viewport_size({"width": 390, "height": 800})
        await page.click(".top button[popovertarget]")
        await window.follow("#pages a:has-text('Errors')")
        assert page.url.endswith("/t/globex/errors")
        assert not await page.is_visible("#pages")
        await page.set_viewport_size({"width": 1280, "height": 800})
        await window.go("/t/globex/jobs?q=state:failed")
        await window.follow("tr[id^=job-] button[value^='retry:']")
        assert "Retry: 1 job done." in await page.inner_text(".flash")
        await window.go("/t/globex/jobs?q=state:scheduled+type:Nightly")
        await window.follow("tr[id^=job-] button[value^='cancel:']")
        assert await page.locator(".flash").count() == 1
        assert await page.locator("tr[id^=job-]").count() == 0
        await window.go("/t/globex/dead?type=ChargeInvoice&view=list")
        await page.check("tbody input[type=checkbox] >> nth=0")
        await window.follow("main button:has-text('Replay')")
        assert "runs again" in await page.inner_text(".flash")
        await window.go("/t/globex/ops-log/new?q=state:dead_letter+type:ChargeInvoice")
        for _ in range(4):
            await window.follow("main button:has-text('On to')")
        await page.fill("#reason", "the payment service is back")
        await window.follow("main button.btn-primary")
        assert "/t/globex/ops-log/" in page.url
        assert "It begins in" in await page.inner_text("main")
        window.check()


async def test_a_chart_is_zoomed_and_rows_are_chosen(live: Live, browser: Browser) -> None:
    """What is beside the links and the forms, for whoever has a mouse: no row is in the way until something is chosen."""
    async with screen(browser, live.url, await live.token()) as window:
        page = window.page
        await window.go("/ops")
        bars = page.locator("#minutes a[href*='since']")
        first, last = await bars.nth(10).bounding_box(), await bars.nth(20).bounding_box()
        assert first is not None
        assert last is not None
        links = [await bars.nth(n).get_attribute("href") for n in (10, 20)]
        await page.mouse.move(first["x"] + first["width"] / 2, first["y"] + first["height"] / 2)
        await page.mouse.down()
        await page.mouse.move(last["x"] + last["width"] / 2, last["y"] + last["height"] / 2, steps=5)
        assert await page.locator(".zoom").count() == 1
        async with page.expect_navigation(url=re.compile("/ops/jobs")):
            await page.mouse.up()
        [since, until] = [
            next(
                word for word in parse_qs(urlsplit(link or "").query)["q"][0].split() if word.startswith(name)
            )
            for name, link in zip(("since:", "until:"), links, strict=True)
        ]
        query = await page.input_value("#query")
        assert since in query
        assert until in query
        # Dragged and thought better of; and pressed, which leads to the one bar as it does without the script.
        await window.go("/ops")
        await page.mouse.move(first["x"] + 1, first["y"] + 5)
        await page.mouse.down()
        await page.mouse.move(last["x"], last["y"] + 5, steps=3)
        await page.keyboard.press("Escape")
        await page.mouse.up()
        assert await page.locator(".zoom").count() == 0
        assert page.url.endswith("/ops")
        await window.go("/ops/jobs?q=type:SendEmail&density=compact")
        assert not await page.is_visible(".bar")
        await page.set_viewport_size({"width": 1280, "height": 1100})
        before = await page.evaluate(CORNERS)
        await page.locator("tbody input[type=checkbox]").nth(1).check()
        assert await page.is_visible(".bar")
        assert await page.evaluate(CORNERS) == before
        await page.click("#bulk-change summary")
        box = await page.locator("#bulk-change .menu-body").bounding_box()
        assert box is not None
        assert box["y"] >= 0
        await page.fill("#bulk-tags", "seen")
        await page.click("#bulk-change button[value=tag]")
        assert "Tag: 1 job done." in await page.inner_text(".flash")
        window.check()


# Where the first rows begin; how long ago something was may become a longer word meanwhile.
CORNERS = """[...document.querySelectorAll('tr[id^=job-]')].slice(0, 3).map(row => {
    const {left, top} = row.getBoundingClientRect();
    return [left, top + scrollY];
})"""


async def quick(window: Screen, interval: float = 0.2) -> None:
    """Pages that may be brought up to date so often, in seconds. Nothing stands between them and the server."""
    await window.context.add_init_script(
        "document.addEventListener('readystatechange', () => {"
        f" if (document.body.dataset.interval) document.body.dataset.interval = '{interval:g}'; }})"
    )


async def test_place_and_focus_survive_ten_updates(live: Live, browser: Browser) -> None:
    """On the list of jobs, while their states change: nothing moves under the eyes or the fingers."""
    async with screen(browser, live.url, await live.token()) as window:
        page = window.page
        await quick(window)
        await window.go("/ops/jobs?q=type:SendEmail")
        await page.locator("tr[id^=job-]").nth(20).locator("a").first.focus()
        row = await page.evaluate("document.activeElement.closest('tr').id")
        await page.evaluate("scrollTo(0, document.activeElement.getBoundingClientRect().top + scrollY - 300)")
        await aeventually(lambda: bool(live.hub.streams) and live.hub.listening)
        places = set()
        for attempt in range(2, 12):
            await live.owner.execute(
                "update postmill.outcome set attempt = %s where job_id = %s",
                [attempt, row.removeprefix("job-")],
            )
            await live.audited("jobs.cancel", "acme")
            await page.wait_for_function(
                "said => document.activeElement.closest('tr').textContent.includes(said)", arg=f"{attempt}/"
            )
            places.add(await page.evaluate(PLACE))
        assert len(places) == 1, places
        assert places.pop().startswith(row)
        window.check()


PLACE = """(() => {
    const at = document.activeElement;
    return [at.closest('tr').id, Math.round(at.getBoundingClientRect().top), scrollY].join();
})()"""

# When the verdict that says something else was painted, in milliseconds of the machine's clock: after the frame that has it.
WATCH = """() => {
    const part = document.querySelector("#part-verdict"), says = () => String(part.textContent.match(/\\d+ queues? \\w+ paused/));
    let said = says();
    new MutationObserver(() => {
        if (said === says()) return;
        said = says();
        requestAnimationFrame(() => {
            const drawn = new MessageChannel();
            drawn.port1.onmessage = () => { document.body.dataset.painted = performance.timeOrigin + performance.now(); };
            drawn.port2.postMessage(null);
        });
    }).observe(part, {childList: true, subtree: true, characterData: true});
}"""


@pytest.mark.parametrize("count", [4, pytest.param(10, marks=pytest.mark.long)])
async def test_tabs_have_one_stream_and_show_a_change_within_a_second(
    live: Live, browser: Browser, count: int
) -> None:
    """And when the login ends, each of them leads to the login once. The second is of the long form: beside other tests
    everything is late. A tab asks for all that it wants by one request."""
    async with screen(browser, live.url, await live.token(Role.PLATFORM_OPERATOR)) as window:
        await quick(window, 0.2 if count == 10 else 1.0)
        tabs = [window.page, *[await window.another() for _ in range(count - 1)]]
        for tab in tabs:
            await tab.goto(live.url + "/ops")
            await tab.evaluate(WATCH)
        await aeventually(lambda: len(live.hub.streams) == 1 and live.hub.listening)
        asked: list[str] = []
        tabs[-1].on("request", lambda request: asked.append(request.url))
        late: list[float] = []
        for act in ("pause", "resume"):
            await asyncio.sleep(0.3)
            begun = time.time()
            await adrive(
                live.owner, getattr(commands, act)("mailers", **({"reason": "x"} if act == "pause" else {}))
            )
            for tab in tabs:
                await tab.wait_for_function(
                    "since => Number(document.body.dataset.painted) > since", arg=begun * 1000
                )
                late.append(float(await tab.evaluate("Number(document.body.dataset.painted)")) / 1000 - begun)
            assert len(live.hub.streams) == 1
        assert any("_part=verdict" in url and "_part=incidents" in url for url in asked), asked
        assert sorted(late)[int(0.95 * len(late))] <= (1.0 if count == 10 else 10.0), sorted(late)
        gone: Counter[int] = Counter()
        for n, tab in enumerate(tabs):
            tab.on("request", lambda request, n=n: gone.update([n] * ("/login" in request.url)))  # type: ignore[misc]
        await live.owner.execute(
            "update postmill.console_session set ended_at = postmill.now() where role = 'platform_operator'"
        )
        await live.audited("queues.pause", None)
        for tab in tabs:
            await tab.wait_for_url("**/login*")
            assert await tab.locator("form").count() == 1
        assert set(gone.values()) == {1}
        window.faults = [fault for fault in window.faults if "401" not in fault]
        window.check()
