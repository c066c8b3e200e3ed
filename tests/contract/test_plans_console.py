"""EXPLAIN guard of the whole console: no page, of either scope, reads a table of jobs or of their history from end to end.

Every page of the application's table of routes is asked for, on the database that `postmill bench console` measures on, and
all plans of its request are looked at, those inside functions too: a new page is guarded from the moment it is there.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import httpx
import pytest
import pytest_asyncio

from postmill.bench.cases.console import SLUG, fill, things
from postmill.bench.ground import Ground
from postmill.bench.pages import asked, paths_of
from postmill.bench.place import Place
from postmill.console.frame.timings import Timings
from postmill.domain.access import Role
from postmill.local.server import LocalServer
from tests.support.api import BASE, Api, opened
from tests.support.databases import Database, fresh_database
from tests.support.plans import SETTINGS, Plans

pytestmark = pytest.mark.asyncio(loop_scope="module")

SIZES = [pytest.param(60_000, id="60k"), pytest.param(1_000_000, id="million", marks=pytest.mark.long)]

GROWING = (
    "job",
    "ready",
    "scheduled",
    "outcome",
    "attempt",
    "dead_letter",
    "idempotency_key",
    "error_group_minute",
    "audit_log",
)
"""Tables that grow with the jobs, or for ever: none is read from end to end."""
ROWS = {
    # Counts are exact to 10,000, and a page has up to five: of the scope, of its states, of the filter's bars.
    "job": 55_000,
    "outcome": 55_000,
    # So they are for each of the ten queues.
    "ready": 110_000,
    "scheduled": 110_000,
    "attempt": 5_000,
    "dead_letter": 11_000,
    "idempotency_key": 500,
    "audit_log": 5_000,
    "error_group_minute": 100_000,
    # A day of a fleet with 20 job types.
    "rollup_fleet": 90_000,
    "rollup": 20_000,
}
"""Rows of such a table that the statements of a page may look at, whatever index they walk, however large the table is."""


@dataclass
class Watched:
    """The application on two connections that tell their plans."""

    api: Api
    key: str
    paths: list[str]
    plans: list[Plans] = field(default_factory=list)


@pytest.fixture(scope="module", params=SIZES)
def filled(
    request: pytest.FixtureRequest, cluster: LocalServer, template: str
) -> Iterator[tuple[Database, dict[str, str]]]:
    with fresh_database(cluster, template) as database:
        place = Place(database.dsn, lambda text: None)
        with place.connect() as conn:
            ground = Ground(place, conn, "postmill")
            fill(ground, request.param)
            yield database, things(ground)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def watched(filled: tuple[Database, dict[str, str]]) -> AsyncIterator[Watched]:
    database, known = filled
    async with opened(database, rate_per_key=1e6, connections=2) as api:
        made = Watched(api, await api.key(Role.SUPER_ADMIN), paths_of(api.app, SLUG, known))
        async with AsyncExitStack() as stack:
            for _ in range(2):
                conn = await stack.enter_async_context(api.app.state.backend.pool.connection())
                plans = Plans()
                made.plans.append(plans)
                await conn.execute(SETTINGS, prepare=False)
                conn.add_notice_handler(plans.told)
        yield made


async def test_no_page_reads_a_growing_table_whole(watched: Watched) -> None:
    wrong, lines = [], []
    for path in watched.paths:
        await asked(watched.api.app, path, watched.key)  # what is prepared and remembered is so by now
        for plans in watched.plans:
            plans.texts.clear()
            plans.roots.clear()
        status, seconds, _, _ = await asked(watched.api.app, path, watched.key)
        assert status in (200, 303), (path, status)
        buffers = 0
        for plans in watched.plans:
            for table, n in plans.sequential().items():
                name = table.split("_2")[0]
                if n > 1000 and name in GROWING:
                    wrong.append(
                        f"{path}: a sequential scan of {n} rows of {table}\n  {statement_of(plans, table)[:300]}"
                    )
            for table, most in ROWS.items():
                if (n := plans.rows(table)) > most:
                    wrong.append(f"{path}: {n} rows of {table} are looked at")
            buffers += sum(
                int(root["Shared Hit Blocks"] + root["Shared Read Blocks"]) for root in plans.roots[-40:]
            )
        lines.append(f"{buffers:8} {1000 * seconds:7.1f} {path}")
    if out := os.environ.get("PLANS_OF_PAGES"):
        with open(out, "w") as file:
            file.write("\n".join(sorted(lines, reverse=True)) + "\n" + "\n".join(wrong))
    assert wrong == [], "\n".join(wrong)


def statement_of(plans: Plans, table: str) -> str:
    """The text of the first statement whose plan scans it."""
    for text, root in zip(plans.texts, plans.roots, strict=True):
        if f"'{table}'" in str(root):
            return " ".join(text.split())
    return ""


COSTS = {
    r"/(ops|t/[^/]+)/jobs": (9, 16_000),
    r"/(ops|t/[^/]+)/jobs/[^/]{36}": (9, 12_000),
    r"/(ops|t/[^/]+)/workflows/[^/]{36}": (5, 10_000),
}
"""Statements of a page, the banner's among them, and bytes on the wire."""


async def test_what_the_pages_of_jobs_ask_for_and_weigh(watched: Watched) -> None:
    """Times differ from machine to machine; statements and bytes, which they are made of, do not."""
    app = watched.api.app
    headers = {"Authorization": f"Bearer {watched.key}", "Accept": "text/html"}
    wrong, seen = [], 0
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE, headers=headers) as web:
        for path in watched.paths:
            for page, (statements, weight) in COSTS.items():
                if re.fullmatch(page, path):
                    app.state.timings = Timings()
                    answer = await web.get(path)
                    assert answer.status_code == 200, path
                    asked_for = {one.name: one.n for one in app.state.timings.slowest(100)}
                    n, seen = int(answer.headers["content-length"]), seen + 1
                    if n > weight or sum(asked_for.values()) > statements:
                        wrong.append(f"{path}: {n} bytes, {asked_for}")
    assert seen == 6
    assert wrong == [], "\n".join(wrong)
