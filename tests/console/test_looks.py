"""Every page in Debian's Chromium: axe finds nothing, nothing runs, nothing is written to the console, nothing scrolls sideways.

The texts of the world are hostile, so each page is looked at for accessibility and for what scripts could do at once. The
short form looks at each page once, each time in another width and theme; the long form in all of them.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from postmill.domain.access import Role
from postmill.local.server import LocalServer
from tests.console.doors import PAGES
from tests.console.harness import Console
from tests.console.hostile_world import OWN, World, hostile_world
from tests.console.looking import FORCED, LOOKS, Look, looked, set_look, with_axe
from tests.support.api import opened
from tests.support.chromium import Screen, chromium, screen
from tests.support.databases import Database, fresh_database
from tests.support.served import served

pytestmark = pytest.mark.asyncio(loop_scope="module")

# What is not a page, as a document: answers to scripts, and files.
NO_PAGES = ("/facets", "/file")
ERRORS = [
    ("/ops/jobs/0/", 404),
    ("/ops/jobs?q=typ:x", 422),
    ("/ops/queues?sort=nope", 422),
    ("/t/nobody", 404),
]


@dataclass
class Shown:
    """Attributes:
    auditor: a window of somebody who may see next to nothing of the platform.
    full: a window on the hostile world, of the platform's people and of a tenant's.
    empty: the same on a database in which nothing ever was.
    """

    world: World
    auditor: Screen
    full: dict[bool, Screen]
    empty: dict[bool, Screen]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shown(
    console_database: Database, browser: Browser, cluster: LocalServer, template: str
) -> AsyncIterator[Shown]:
    with fresh_database(cluster, template) as nothing:
        async with (
            hostile_world(console_database) as world,
            opened(nothing) as void,
            served(console_database.dsn) as full,
            served(nothing.dsn) as empty,
            screen(browser, full, await world.console.token()) as full_ops,
            screen(browser, full, await world.console.token(Role.TENANT_ADMIN, OWN)) as full_tenant,
            screen(browser, full, await world.console.token(Role.AUDITOR)) as auditor,
            screen(browser, empty, await Console(void).token()) as empty_ops,
            screen(browser, empty, await Console(void).token(Role.TENANT_ADMIN, OWN)) as empty_tenant,
        ):
            await with_axe(full_ops, full_tenant, auditor, empty_ops, empty_tenant)
            yield Shown(
                world, auditor, {True: full_ops, False: full_tenant}, {True: empty_ops, False: empty_tenant}
            )


def pages(shown: Shown) -> list[tuple[Screen, str, int]]:
    """Windows, paths and statuses: everything there is, then what there is of nothing, then errors."""
    own = [door for door in PAGES if not door.path.endswith(NO_PAGES)]
    made = [(shown.full[door.ops], shown.world.path(door, OWN, shown.world.own), 200) for door in own]
    made += [
        (shown.empty[door.ops], door.path.replace("{slug}", OWN), 200) for door in own if not door.things
    ]
    made += [(shown.full[True], path, status) for path, status in ERRORS]
    return [*made, (shown.full[False], "/ops/queues", 404), (shown.auditor, "/ops/queues", 403)]


async def test_every_page_once(shown: Shown) -> None:
    """Of pages that both scopes have the platform's, which show more; of those of an empty database every fifth.

    What is around a page's own part is the same in all of them: axe looks at that in every seventh, and so in each look.
    """
    both = {door.path.removeprefix("/ops") for door in PAGES if door.ops}
    chosen = []
    for n, (window, path, status) in enumerate(pages(shown)):
        rest = path.removeprefix(f"/t/{OWN}")
        empty = window in shown.empty.values()
        known = path.startswith("/t/") and (rest in both or len(rest.split("/")) > 2)
        if status != 200 or (empty and n % 5 == 0) or (not empty and not known):
            chosen.append((window, path, status))
    wrong: list[str] = []
    # Look by look: a window that takes another size draws again what it shows.
    for look, n in sorted((n % len(LOOKS), n) for n in range(len(chosen))):
        wrong += await told(*chosen[n], LOOKS[look], whole=n % 7 == 0)
    assert wrong == [], "\n".join(wrong)


@pytest.mark.long
@pytest.mark.parametrize("look", [*LOOKS, *FORCED], ids=str)
async def test_every_page_in_every_look(shown: Shown, look: Look) -> None:
    wrong = []
    for window, path, status in pages(shown):
        wrong += await told(window, path, status, look)
    assert wrong == [], "\n".join(wrong)


async def told(window: Screen, path: str, status: int, look: Look, *, whole: bool = True) -> list[str]:
    """What is wrong, each with where. `LOOKS_FOLDER` gets a picture of each page that has something, and of all undecided."""
    await set_look(window.page, look)
    folder = os.environ.get("LOOKS_FOLDER")
    wrong, undecided = await looked(window, path, status=status, undecided=bool(folder), whole=whole)
    if folder and (wrong or undecided):
        name = f"{path.strip('/').replace('/', '_')[:80]}-{look}".replace(" ", "-").replace("%", "")
        Path(folder).mkdir(parents=True, exist_ok=True)
        await window.page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
        (Path(folder) / f"{name}.txt").write_text("\n".join([path, *wrong, "", "undecided:", *undecided]))
    return [f"{path} ({look}): {one}" for one in wrong]
