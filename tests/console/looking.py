"""What axe and the browser itself say of the page that a window shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page, ViewportSize

from tests.support.chromium import Screen

# All rules, best practices too; the size of targets (WCAG 2.2, 2.5.8) is off unless it is asked for.
RUN = """async ([resultTypes, whole]) => {
    const found = await axe.run(whole ? document : document.querySelector("main") ?? document, {
        preload: false, resultTypes, rules: {"target-size": {enabled: true}},
    });
    const told = (rules) => rules.flatMap((rule) => rule.nodes.map((node) =>
        `${rule.id}: ${node.target.join(" ")} ${node.html.slice(0, 160)} | `
        + [...node.any, ...node.all, ...node.none].map((check) => check.message).join("; ").slice(0, 300)));
    return {violations: told(found.violations), incomplete: told(found.incomplete)};
}"""

# Wider than the window, with the elements that are.
WIDE = """() => {
    const most = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= most) return [];
    const held = (element) => element.parentElement?.closest(
        ".table-wrap, .log, .payload, pre, [class*=chart], figure, nav, .tabs");
    return [`${document.documentElement.scrollWidth} > ${most}`, ...[...document.querySelectorAll("body *")]
        .filter((e) => e.getBoundingClientRect().right > most + 1 && !held(e)).slice(0, 8)
        .map((e) => `${e.tagName} ${e.id} ${e.className} ${e.textContent.trim().slice(0, 40)}`)];
}"""


# Words that are broken in their middle, but within long ones without a blank.
BROKEN = """() => {
    const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
    const beside = (node, way) => (node[way] ?? node.parentElement[way])?.textContent ?? "";
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        const holder = node.parentElement;
        if (!holder.checkVisibility() || holder.closest(".log, .payload, .visually-hidden, [popover], svg")) continue;
        for (const word of node.data.matchAll(/[\\p{L}\\p{N}_]+/gu)) {
            const before = /\\S*$/.exec(beside(node, "previousSibling") + node.data.slice(0, word.index))[0];
            const rest = /^\\S*/.exec(node.data.slice(word.index) + beside(node, "nextSibling"))[0];
            if (before.length + rest.length > 16) continue;
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            const lines = new Set([...range.getClientRects()].filter((at) => at.width > 0).map((at) => Math.round(at.top)));
            if (lines.size > 1) found.push(`${word[0]} (${holder.localName}.${holder.className}: ${node.data.slice(0, 60)})`);
        }
    }
    return found.slice(0, 8);
}"""

HEAD = "document.querySelector('.top')?.getBoundingClientRect().height ?? 0"
MOST_HEAD = 110
"""Pixels that head and navigation may take of a telephone's window."""


@dataclass(frozen=True)
class Look:
    """How a page is looked at: width in CSS pixels, and the theme; `forced`: in colours that the system forces upon it."""

    width: int
    dark: bool
    forced: bool = False

    def __str__(self) -> str:
        return f"{self.width} px {'dark' if self.dark else 'light'}{' forced' if self.forced else ''}"


FORCED = [Look(1280, dark, forced=True) for dark in (False, True)]
LOOKS = [Look(width, dark) for dark in (False, True) for width in (1280, 390, 320)]


async def set_look(page: Page, look: Look) -> None:
    """As the system and the window say it."""
    size: ViewportSize = {"width": look.width, "height": 800}
    if page.viewport_size != size:
        await page.set_viewport_size(size)
    await page.emulate_media(
        color_scheme="dark" if look.dark else "light",
        reduced_motion="reduce",
        forced_colors="active" if look.forced else "none",
    )


async def with_axe(*windows: Screen) -> None:
    """From now on their pages have it: half a megabyte that is handed over once, not with each page."""
    for window in windows:
        await window.context.add_init_script(AXE_SCRIPT)


async def axe(page: Page, *kinds: str, whole: bool = True) -> dict[str, list[str]]:
    """`violations`, and what axe cannot decide: `incomplete`; all of those kinds, one of any other. Unless it is the
    `whole` page, without what all pages have around their own part."""
    found: dict[str, list[str]] = await page.evaluate(RUN, [list(kinds), whole])
    return found


async def looked(
    window: Screen, path: str, *, status: int = 200, undecided: bool = True, whole: bool = True
) -> tuple[list[str], list[str]]:
    """Everything that is wrong with a page, and what axe leaves to people, unless that is not asked for."""
    answer = await window.page.goto(window.base + path, wait_until="load")
    assert answer is not None
    wrong = [] if answer.status == status else [f"answered {answer.status}"]
    found: dict[str, Any] = await axe(window.page, "violations", *["incomplete"] * undecided, whole=whole)
    wide = await window.page.evaluate(WIDE)
    refused = f"status of {status}" if status >= 400 else None
    wrong += [fault for fault in window.faults if refused is None or refused not in fault]
    window.faults.clear()
    wrong += found["violations"]
    if wide:
        wrong.append(f"scrolls sideways: {wide}")
    wrong += [f"a broken word: {one}" for one in await window.page.evaluate(BROKEN)]
    head = await window.page.evaluate(HEAD)
    if head > MOST_HEAD:
        wrong.append(f"its head takes {head:.0f} px")
    return wrong, found["incomplete"]
