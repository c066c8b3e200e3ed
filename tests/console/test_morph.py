"""The morph, in Debian's Chromium: random looks at a page, and somebody who ticks, types, scrolls and looks meanwhile."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from tests.support.chromium import chromium

FUZZ = (Path(__file__).parent / "morph_fuzz.js").read_text()
"""Where elements can be moved as they are, scroll is asked for, too."""


@pytest.mark.parametrize(
    ("rounds", "seeds"),
    [(30, 4), pytest.param(1_000, 10, marks=[pytest.mark.long, pytest.mark.timeout(1800)])],
)
async def test_a_morph_loses_nothing(rounds: int, seeds: int) -> None:
    static = files("postmill.console") / "static" / "js"
    script = "\n".join((static / f"{name}.js").read_text() for name in ("words", "policy", "morph"))
    async with chromium() as browser:
        page = await browser.new_page()
        await page.set_content("<!doctype html><body></body>")
        await page.add_script_tag(content=script)
        for seed in range(1, seeds + 1):
            if seed > seeds // 2:  # as in browsers that cannot move an element without taking it out
                await page.evaluate("delete Element.prototype.moveBefore")
            wrong = await page.evaluate(f"(([rounds, seed]) => ({FUZZ})(rounds, seed))", [rounds, seed])
            assert wrong is None
