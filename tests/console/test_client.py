"""The script of the console in Debian's Chromium, on a page of our own frame whose content the test decides."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Route, expect

from postmill.domain.access import Role
from tests.console.serving import Live, serving
from tests.support.chromium import Screen, chromium, screen
from tests.support.databases import Database
from tests.support.eventually import aeventually

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def live(console_database: Database) -> AsyncIterator[Live]:
    async with serving(console_database) as made:
        made.hub.gap = 0.1
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as made:
        yield made


@dataclass
class Shown:
    """A list of jobs as the server has it: what the page and its live part show."""

    jobs: list[str] = field(default_factory=lambda: ["a", "b", "c"])
    word: str = "queued"
    status: int = 200
    gone: bool = False
    asked: int = 0

    def part(self) -> str:
        rows = "".join(
            f'<tr id="job-{job}" data-row><td><input type="checkbox" id="box-{job}" name="id" value="{job}"'
            f' aria-label="{job}"></td><td><a id="link-{job}" href="#{job}">{job}</a></td>'
            f'<td><span class="state state-{self.word}">{self.word}</span></td>'
            f'<td><details class="menu" id="menu-{job}"><summary>…</summary><div class="menu-body"><button type="button"'
            f' id="act-{job}">Act</button></div></details></td></tr>'
            for job in self.jobs
        )
        return f'<p data-say>{len(self.jobs)} {self.word}</p><div class="table-wrap"><table><tbody>{rows}</tbody></table></div>'

    def main(self) -> str:
        return (
            '<main class="page" id="main" tabindex="-1"><form data-bulk id="bulk"><div class="bar"><input type="checkbox"'
            ' data-select-all id="all" aria-label="all" hidden><span id="selected" data-selected></span></div>'
            f'<div id="part-list" data-live="list" data-topic="queues" data-morph>{self.part()}</div></form>'
            '<form id="go"><input id="count" name="count" data-confirm-count="1181" aria-label="count"><button id="send">Go'
            '</button></form><input id="query" data-query data-facets="/ops/facets" aria-label="query">'
            '<p id="text">to copy</p><button type="button" id="copy" data-copy="#text">Copy</button>'
            '<nav data-ranges><a href="#1h" aria-current="true">1h</a><a href="#24h">24h</a></nav>'
            "<details><summary>More</summary>"
            '<a id="replay" data-key="r" data-replay href="/ops/ops-log/new?q=">Replay</a></details>'
            '<svg width="40" height="20"><a href="#bar" tabindex="-1"'
            ' aria-label="7 failed" data-tip="7 failed"><title>7 failed</title><rect width="40" height="20"/></a></svg>'
            f'<div id="space"></div>{"<p>deep</p>" * 80}</main>'
        )


@asynccontextmanager
async def window(
    live: Live, browser: Browser, shown: Shown, *, init: str = "", role: Role = Role.SUPER_ADMIN
) -> AsyncIterator[Screen]:
    async with screen(browser, live.url, await live.token(role)) as made:
        made.faults.clear()  # of where the login led
        if init:
            await made.context.add_init_script(init)

        async def answer(route: Route) -> None:
            if "_part" in route.request.url:
                shown.asked += 1
                tag = f'"{len(shown.jobs)}{shown.word}"' if not shown.gone else ""
                same = route.request.headers.get("if-none-match") == tag
                await route.fulfill(
                    status=304 if same and shown.status == 200 else shown.status,
                    headers={"ETag": tag, "Content-Type": "text/html; charset=utf-8"},
                    body=""
                    if same
                    else '<template data-part="list" data-over></template>'
                    if shown.gone
                    else f'<template data-part="list">{shown.part()}</template>'
                    if shown.status == 200
                    else "<form><input type=password></form>",
                )
                return
            real = await route.fetch()
            text = re.sub("<main .*?</main>", lambda _: shown.main(), await real.text(), flags=re.DOTALL)
            text = text.replace('data-interval="5"', 'data-interval="0.2"')
            await route.fulfill(response=real, body=text)

        async def facets(route: Route) -> None:
            await route.fulfill(json=[{"text": "state:dead_letter", "note": "12"}, {"text": "state:queued"}])

        await made.context.route("**/ops/queues*", answer)
        await made.context.route("**/ops/facets*", facets)
        await made.go("/ops/queues")
        yield made


async def test_rows_change_in_place_and_come_only_when_asked_for(live: Live, browser: Browser) -> None:
    shown = Shown()
    async with window(live, browser, shown) as made:
        page = made.page
        await aeventually(lambda: len(live.hub.streams) == 1)
        await page.focus("#link-b")
        await page.evaluate("scrollTo(0, 60)")
        shown.word, shown.jobs = "running", ["new", "c", "b"]
        await live.audited("queues.pause", None)
        await page.wait_for_selector("#job-b .state-running")
        assert await page.evaluate("document.activeElement.id") == "link-b"
        assert await page.evaluate("scrollY") == 60
        assert await ids(made) == ["job-a", "job-b", "job-c"]
        assert await page.get_attribute("#job-a", "data-gone") is not None
        button = page.locator(".news")
        assert await button.inner_text() == "1 new, 1 no longer here – show"
        assert re.fullmatch(r"Live · (now|\d+ s ago)", await page.inner_text("[data-live-state]"))
        # Somebody selects: nothing changes, however often it is pinged.
        await page.check("#box-c")
        assert await page.inner_text("#selected") == "1 selected"
        shown.word = "succeeded"
        await live.audited("queues.resume", None)
        await page.wait_for_selector("[data-live-state]:has-text('Held')")
        asked = shown.asked
        await page.wait_for_timeout(500)
        assert shown.asked == asked
        await page.keyboard.press("Escape")
        assert await page.is_checked("#box-c") is False
        await page.wait_for_selector("#job-c .state-succeeded")
        await button.click()
        assert await ids(made) == ["job-new", "job-c", "job-b"]
        assert await button.count() == 0
        # Paused, by the key of the control and kept as the form keeps it.
        await page.keyboard.press("p")
        await page.wait_for_selector("[data-live-state]:has-text('Paused')")
        await aeventually(lambda: kept(made, "live=off"))
        await page.reload()
        assert await page.inner_text("#live-toggle") == "Resume updates"
        made.check()


async def ids(made: Screen) -> list[str]:
    found: list[str] = await made.page.evaluate(
        "[...document.querySelectorAll('tbody tr')].map((row) => row.id)"
    )
    return found


async def kept(made: Screen, choice: str) -> bool:
    return any(choice in str(cookie.get("value")) for cookie in await made.context.cookies())


async def test_keys_lead_everywhere_and_can_be_switched_off(live: Live, browser: Browser) -> None:
    shown = Shown()
    async with window(live, browser, shown) as made:
        page, press = made.page, made.page.keyboard.press

        async def active() -> str:
            found: str = await page.evaluate("document.activeElement.id")
            return found

        await press("j")
        await press("j")
        assert await active() == "link-b"
        await press("k")
        assert await active() == "link-a"
        await press("x")
        assert await page.is_checked("#box-a")
        await press("Enter")
        await page.wait_for_url("**#a")
        await press(".")
        assert await active() == "act-a"
        await press("Escape")
        assert await page.get_attribute("#menu-a", "open") is None
        await press("Escape")
        assert not await page.is_checked("#box-a")
        await press("]")
        assert page.url.endswith("#24h")
        await press("[")
        await expect(page.locator(".told")).to_contain_text("no other range")
        # The chosen rows, else the one in focus.
        for chosen, query in (("b", "id%3Ab"), (None, "id%3Aa")):
            await made.go("/ops/queues")
            if chosen:
                await page.check(f"#box-{chosen}")
            await page.focus("#link-a")
            await press("r")
            await page.wait_for_url(f"**/ops/ops-log/new?q={query}")
        await made.go("/ops/queues")
        await press("r")
        await page.wait_for_url("**/ops/ops-log/new?q=")
        made.faults.clear()  # what a and b are is not known there
        await made.go("/ops/queues")
        await press(".")
        await expect(page.locator(".told")).to_contain_text("nothing to do")
        await press("/")
        assert await active() == "search"
        await press("j")  # is typed
        assert await page.input_value("#search") == "j"
        await press("Escape")
        await press("?")
        assert await page.is_visible("#keys-help")
        await press("j")
        await press("Escape")
        assert not await page.is_visible("#keys-help")
        await page.check("#box-a")
        await page.click("#box-c", modifiers=["Shift"])
        assert await page.inner_text("#selected") == "3 selected"
        await page.click("#all")
        assert await page.inner_text("#selected") == "0 selected"
        # A query is completed, a count is typed, a text copied, a mark says what it is.
        await page.focus("#query")
        await page.keyboard.type("type:x state:d")
        await page.wait_for_selector("#query-options:not([hidden])")
        await press("ArrowDown")
        assert await page.get_attribute("#query", "aria-activedescendant") == "query-options-0"
        await press("Enter")
        assert await page.input_value("#query") == "type:x state:dead_letter "
        assert await page.get_attribute("#query", "aria-expanded") == "false"
        assert await page.evaluate("document.querySelector('#count').validationMessage") == "Type 1181"
        await page.fill("#count", "1,181")
        assert await page.evaluate("document.querySelector('#go').checkValidity()")
        await made.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await page.click("#copy")
        await page.wait_for_selector("#copy[title='Copied']")
        assert await page.evaluate("navigator.clipboard.readText()") == "to copy"
        await page.hover("svg a[data-tip]")
        assert await page.inner_text(".tip") == "7 failed"
        await press("Escape")
        assert await page.is_hidden(".tip")
        await press("g")
        await press("w")
        await page.wait_for_url("**/ops/workers")
        made.faults.clear()  # whether that page is there is not what is asked here
        # Switched off, single keys are letters and no more.
        await made.go("/ops/queues")
        await page.evaluate("document.body.dataset.keys = 'off'")
        await press("j")
        assert await active() == ""
        made.check()


async def test_a_login_that_ends_leads_to_the_login_once_and_faults_to_a_note(
    live: Live, browser: Browser
) -> None:
    shown = Shown(status=500)
    # As by plain HTTP: no locks, no clipboard. And time that the test moves.
    init = "for (const name of ['locks', 'clipboard']) Object.defineProperty(navigator, name, {value: undefined})"
    async with window(live, browser, shown, init=init) as made:
        page = made.page
        assert not live.hub.streams
        await page.clock.install()
        await made.go("/ops/queues")
        await page.clock.fast_forward(6_000)
        await aeventually(lambda: shown.asked == 1)
        await page.clock.fast_forward(1_000)
        await page.wait_for_selector("[data-live-state]:has-text('No answer')")
        assert await page.locator("input[type=password]").count() == 0
        await page.clock.fast_forward(4_000)  # it waits longer after a fault
        assert shown.asked == 1
        await page.clock.fast_forward(40_000)
        await aeventually(lambda: shown.asked > 1)
        await page.wait_for_selector("#part-list.stale")
        assert await page.get_attribute("[data-live-control]", "data-mode") == "stale"
        shown.status, shown.word = 200, "failed"
        await page.clock.fast_forward(130_000)
        await page.wait_for_selector("#job-a .state-failed")
        assert await page.locator("#part-list.stale").count() == 0
        await page.click("#copy")
        await page.wait_for_selector("#copy[title='Copied']")
        # Hidden tabs ask for nothing.
        await page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
        asked = shown.asked
        await page.clock.fast_forward(60_000)
        assert shown.asked == asked
        await page.evaluate("delete document.hidden")
        shown.status = 401
        # Somebody writes: he is told, and keeps what he wrote.
        await page.fill("#count", "5")
        await page.clock.fast_forward(8_000)
        await page.wait_for_selector("[data-live-state]:has-text('logged out')")
        assert await page.input_value("#count") == "5"
        faults = [fault for fault in made.faults if "401" not in fault and "500" not in fault]
        assert faults == []
        made.faults.clear()
        # Nobody does: the page itself goes to the login, once.
        places: list[str] = []
        page.on("framenavigated", lambda frame: places.append(frame.url))
        await made.context.unroute("**/ops/queues*")
        await page.goto(f"{live.url}/login?token={await live.token(Role.SUPER_ADMIN)}")
        await made.go("/ops/queues")
        await made.context.clear_cookies(name="postmill_session")
        places.clear()
        await page.clock.fast_forward(20_000)
        await page.wait_for_url("**/login?next=*")
        assert await page.locator("input[type=password]").count() == 1
        assert len(places) == 1


async def test_one_stream_for_all_tabs(live: Live, browser: Browser) -> None:
    shown = Shown()
    async with window(live, browser, shown) as made:
        await aeventually(lambda: len(live.hub.streams) == 1)
        tabs = [made.page] + [await made.context.new_page() for _ in range(2)]
        for tab in tabs[1:]:
            await tab.goto(live.url + "/ops/queues")
        shown.word = "running"
        await live.audited("queues.pause", None)
        for tab in tabs:
            await tab.wait_for_selector("#job-a .state-running")
        assert len(live.hub.streams) == 1
        # The one that holds it goes: another takes over.
        await tabs[0].close()
        await aeventually(lambda: len(live.hub.streams) == 1 and not next(iter(live.hub.streams)).closed)
        shown.word = "failed"
        await aeventually(lambda: live.hub.listening)
        await live.audited("queues.pause", None)
        for tab in tabs[1:]:
            await tab.wait_for_selector("#job-a .state-failed")
        assert len(live.hub.streams) == 1
        shown.gone = True
        await live.audited("queues.pause", None)
        for tab in tabs[1:]:
            await tab.wait_for_selector("#part-list.stale")
        made.check()
        for tab in tabs[1:]:
            await tab.close()


async def test_now_is_one_screen_and_what_was_said_leaves(live: Live, browser: Browser) -> None:
    """Eight incidents, the last hour and the changes at 1280 × 800; a line of an act goes without moving anything under the
    pointer, and another incident comes in by itself unless the pointer is among the rows."""

    async def wrong(first: int, last: int) -> None:
        await live.owner.execute(
            """select postmill.raise_incident('job_exhausted', 'Charge' || n || ':e' || n, 'critical', 'ChargeInvoice' || n ||
                      ' was given up: TimeoutError: the payment service did not answer for invoice 4011', '{}',
                      p_queue => 'billing' || n, p_job_type => 'ChargeInvoice' || n) from generate_series(%s::integer, %s) n""",
            [first, last],
        )
        await live.audited("incidents.acknowledge", None)  # as the round that raises them tells of it

    await wrong(1, 8)
    async with screen(browser, live.url, await live.token()) as made:
        page = made.page
        await page.set_viewport_size({"width": 1280, "height": 800})
        await page.clock.install()
        await made.go("/ops")
        assert await page.locator("#incidents tbody tr").count() == 8
        ends = (
            "[...document.querySelectorAll('#incidents tbody tr, .page > .grid > *')]"
            ".map((e) => e.getBoundingClientRect().bottom)"
        )
        assert max(await page.evaluate(ends)) <= 800
        wrap = "document.querySelector('#incidents').closest('.table-wrap')"
        inner, outer = await page.evaluate(f"[{wrap}.scrollWidth, {wrap}.clientWidth]")
        assert inner <= outer
        await page.locator("#incidents button", has_text="Acknowledge").first.click()
        await page.wait_for_selector(".flash")
        place = "document.querySelector('.flash').getBoundingClientRect().height"
        await page.mouse.move(600, 500)
        before = await page.evaluate(place)
        assert await page.is_visible(".flash")
        await page.clock.fast_forward(9_000)
        await live.audited("queues.pause", None)
        await page.clock.fast_forward(16_000)
        await page.wait_for_selector(".flash.read", state="hidden")
        assert await page.evaluate(place) == before

        async def shown(selector: str, n: int) -> bool:
            await page.clock.fast_forward(6_000)
            return await page.locator(selector).count() == n

        rows = "#incidents tbody tr"
        await page.hover(f"{rows} >> nth=0")
        await wrong(9, 9)
        await live.owner.execute("delete from postmill.incident where job_type = 'ChargeInvoice1'")
        await aeventually(lambda: shown(".news", 1))
        assert await page.locator(rows).count() == 8
        assert await page.get_attribute(f"{rows}[data-gone]", "data-gone") == "no longer so"
        await page.mouse.move(5, 5)
        await aeventually(lambda: shown(f"{rows}:has-text('ChargeInvoice9')", 1))
        await aeventually(lambda: shown(f".news, .flash, {rows}[data-gone]", 0))
        await wrong(10, 10)
        await aeventually(lambda: shown(rows, 9))
        made.check()
    await live.owner.execute("delete from postmill.incident")
