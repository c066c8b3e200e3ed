"""The pictures of the documentation are taken of the console as it is: `make pictures` writes them anew."""

from __future__ import annotations

import os
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from postmill.domain.access import Role
from tests.console.harness import Console
from tests.console.living import living
from tests.support.chromium import NARROW, WIDE, chromium, screen
from tests.support.served import served

pytestmark = pytest.mark.asyncio(loop_scope="module")

ASSETS = Path(__file__).parents[2] / "docs" / "assets" / "console"

# What, where, how large, dark, whose.
PICTURES = [
    ("now", "/ops", WIDE, False, None),
    ("now-dark", "/ops", WIDE, True, None),
    ("overview", "/t/acme", WIDE, False, "acme"),
    ("jobs", "/t/acme/jobs?q=state:dead_letter", WIDE, False, "acme"),
    ("errors", "/ops/errors", WIDE, False, None),
    ("queues", "/ops/queues", WIDE, False, None),
    ("phone", "/t/acme/dead", NARROW, False, "acme"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def address(console: Console) -> AsyncIterator[str]:
    database = console.api.database
    async with living(database, console.api.owner) as ids, served(database.dsn) as url:
        console.api.tenants |= ids
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as made:
        yield made


async def test_the_pictures(console: Console, address: str, browser: Browser, tmp_path: Path) -> None:
    """Every page of them is there, without a fault in the browser; and the documentation has each."""
    wanted = os.environ.get("CONSOLE_PICTURES")
    folder = Path(wanted or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    for name, path, size, dark, tenant in PICTURES:
        if not wanted:
            assert (ASSETS / f"{name}.png").exists(), f"make pictures takes {name}.png"
            if name != "phone":
                continue  # each costs a second or two, and the gates look at every page
        token = await console.token(Role.TENANT_ADMIN if tenant else Role.SUPER_ADMIN, tenant)
        async with screen(browser, address, token, size=size, dark=dark) as window:
            await window.go(path)
            await window.page.evaluate("document.fonts.ready")
            picture = await window.page.screenshot(path=folder / f"{name}.png")
            assert struct.unpack(">II", picture[16:24]) == size, name
            assert len(picture) > 15_000, f"{name} shows nothing"
            window.check()
