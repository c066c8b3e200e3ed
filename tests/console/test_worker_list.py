"""The list of workers: the worst first, what is the same of several once, and no alarm for what was replaced."""

from __future__ import annotations

from uuid import UUID

import pytest
import pytest_asyncio

from postmill.console.pages.workers import skew
from tests.console.harness import Console
from tests.console.outage import do
from tests.console.test_now import page

pytestmark = pytest.mark.asyncio(loop_scope="module")

GONE, NEXT = UUID(int=0xB1), UUID(int=0xB2)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workers(console: Console) -> None:
    """One that went without a word and was replaced, one that was not, and four of a build before the last one."""
    await do(console.api, "insert into postmill.queue (name) values ('mail'), ('bulk'), ('idle')")
    for holder, name, queue, started, seen, build in (
        (GONE, "gone", "mail", 60, 20, "b1"),
        (NEXT, "next", "mail", 10, 0, "b2"),
        (UUID(int=0xB3), "lost", "bulk", 60, 20, "b1"),
        *((UUID(int=0xC0 + n), f"old-{n}", "mail", 30, 0, "b1") for n in range(4)),
    ):
        await do(console.api, """insert into postmill.worker (holder, worker_id, hostname, pid, started_at, last_seen_at, queues,
                                         build, version, metadata)
                                 values (%s, %s, %s, 7, postmill.now() - %s * interval '1 min',
                                         postmill.now() - %s * interval '1 min', array[%s], %s, '1',
                                         '{"definitions": {"m": "a"}}')""",
                 holder, f"{name}:7:x", name, started, seen, queue, build)  # fmt: skip
        await do(console.api, """insert into postmill.lease (holder, started_at, expires_at)
                                 values (%s, postmill.now(), postmill.now() + (30 - 2 * %s) * interval '1 min')""",
                 holder, seen)  # fmt: skip


async def test_the_worst_first_and_each_thing_once(console: Console, workers: None) -> None:
    seen = await page(console, "/ops/workers")
    assert "Critical lost pid 7 : stale" in seen.text
    assert seen.text.index("Critical lost") < seen.text.index("Warning old-")
    assert "and 1 more: old build" in seen.text
    assert seen.text.count("more: old build") == 1
    assert "Info bulk , idle : no worker serves these queues, and nothing waits" in seen.text
    # It was replaced: told where one looks for it, and nothing to be woken for.
    assert "gone without a word for" in seen.text
    assert "Critical gone" not in seen.text
    rows = [seen.text.rindex(f" {name} pid 7 ") for name in ("lost", "old-0", "next")]
    assert rows == sorted(rows)
    one = await page(console, f"/ops/workers/{GONE}")
    assert "gone without a word for" in one.text
    [jobs] = [link for link in one.links if link.startswith("/ops/jobs?q=worker")]
    assert "No job" in (await page(console, jobs)).text


async def test_a_name_leads_to_its_latest_session(console: Console, workers: None) -> None:
    client = await console.browser()
    answer = await client.get("/ops/workers?worker=next:7:x&seen=30d")
    assert (answer.status_code, answer.headers["location"]) == (307, f"/ops/workers/{NEXT}")
    assert "The filter hides all workers." in (await client.get("/ops/workers?worker=nobody")).text


async def test_how_clocks_differ() -> None:
    assert [skew(off) for off in (None, -0.0001, 0.049, 4.5, -2.0)] == [
        None,
        "in step",
        "in step",
        "+4.500 s",
        "-2.000 s",
    ]
