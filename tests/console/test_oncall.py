"""A night on call in Debian's Chromium: by keyboard alone, without scripts, and while everything changes meanwhile."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route

from postmill.domain.access import Role
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
        """Tab until the focus is there; it must be seen where it is."""
        for _ in range(STOPS):
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

    async def press(self, key: str = "Enter", *, leads: str | None = None) -> None:
        """A click by key; `leads`: what the address becomes."""
        self.clicks += 1
        if leads is None:
            await self.page.keyboard.press(key)
            return
        async with self.page.expect_navigation(url=re.compile(leads)):
            await self.page.keyboard.press(key)


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
        assert "Begun." in await page.inner_text("main")
        states = await live.owner.execute("select kind, status, total from postmill.operation")
        assert await states.fetchall() == [("replay", "running", 36)]
        # Back at the cause: nothing more of it starts for an hour.
        await page.goto(group)
        await keys.go_to("main summary", "Pause job type")
        await keys.press()
        await keys.go_to("#pause-reason")
        await page.keyboard.type("until it is rolled back")
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
        await page.fill("main input[name=q]", "state:scheduled type:Nightly")
        await page.press("main input[name=q]", "Enter")
        assert await page.locator("tr[id^=job-]").count() == 1
        await page.click("tr[id^=job-] a")
        assert "/t/globex/jobs/" in page.url
        assert "Nightly" in await page.inner_text("main")
        await window.go("/t/globex/jobs?q=state:scheduled")
        await page.click("tr[id^=job-] button[value^='cancel:']")
        assert await page.locator(".flash").count() == 1
        assert await page.locator("tr[id^=job-]").count() == 0
        await window.go("/t/globex/dead?type=ChargeInvoice&view=list")
        await page.check("tbody input[type=checkbox] >> nth=0")
        await page.click("main button:has-text('Replay')")
        assert "runs again" in await page.inner_text(".flash")
        await window.go("/t/globex/ops-log/new?q=state:dead_letter+type:ChargeInvoice")
        for _ in range(4):
            await page.click("main button:has-text('On to')")
        await page.fill("#reason", "the payment service is back")
        await page.click("main button.btn-primary")
        assert "/t/globex/ops-log/" in page.url
        assert "Begun." in await page.inner_text("main")
        window.check()


async def quick(window: Screen) -> None:
    """Pages that may be brought up to date five times a second."""

    async def answer(route: Route) -> None:
        if route.request.resource_type != "document":
            await route.continue_()
            return
        real = await route.fetch(max_redirects=0)
        await route.fulfill(
            response=real, body=(await real.text()).replace('data-interval="5"', 'data-interval="0.2"')
        )

    await window.context.route("**/ops*", answer)


async def test_place_and_focus_survive_ten_updates(live: Live, browser: Browser) -> None:
    """On the list of jobs, while their states change: nothing moves under the eyes or the fingers."""
    async with screen(browser, live.url, await live.token()) as window:
        page = window.page
        await quick(window)
        await window.go("/ops/jobs?q=type:SendEmail")
        row = page.locator("tr[id^=job-]").nth(20)
        await row.locator("a").first.focus()
        focused = await page.evaluate("document.activeElement.closest('tr').id")
        await page.evaluate("scrollTo(0, document.activeElement.getBoundingClientRect().top + scrollY - 300)")
        await aeventually(lambda: bool(live.hub.streams))
        places = set()
        for number in range(10):
            reason = f"reason {number}"
            await live.owner.execute(
                "update postmill.outcome set attempt = %s where job_id = %s",
                [number + 2, focused.removeprefix("job-")],
            )
            await live.ended("acme")
            async with page.expect_response(re.compile("_part=rows")):
                await live.audited("jobs.cancel", "acme")
            await page.wait_for_function(
                "text => document.activeElement.closest('tr').textContent.includes(text)",
                arg=f"{number + 2}/",
            )
            assert reason
            places.add(
                await page.evaluate(
                    "[document.activeElement.closest('tr').id, scrollY,"
                    " Math.round(document.activeElement.getBoundingClientRect().top)].join()"
                )
            )
        assert len(places) == 1, places
        assert focused in places.pop()
        window.check()
