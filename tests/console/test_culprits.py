"""What the failures of a cause share leads to what had it: a worker, a build, an argument; also where others say no build."""

from __future__ import annotations

import pytest

from postmill.domain.access import Role
from tests.console.failing import failing
from tests.console.harness import Console
from tests.console.test_now import page

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_each_leads_to_what_had_it(console: Console) -> None:
    world = await failing(console.api)
    await console.api.owner.execute("update postmill.worker set build = null where hostname = 'b'")
    told = await page(console, f"/ops/errors/{world.group}")
    assert {"/ops/workers?worker=w-c&seen=30d", "/ops/workers?build=build-42&seen=24h"} <= set(told.links)
    banner = told.text.partition("What do the failures share?")[0]
    for shared in (
        "Version v2 100 %",
        "Build build-42 100 %",
        "Worker w-c 100 %",
        "Argument currency USD 100 %",
    ):
        assert shared in banner, shared
    assert "not told 0 0 %" in told.text
    # What can be done stands before the facts, and a link leads there past all else.
    assert told.text.index("Replay…") < told.text.index("First seen")
    assert "#part-acts" in told.links
    own = await page(console, f"/t/acme/errors/{world.group}", Role.OPERATOR, "acme")
    assert "Argument currency USD 100 %" in own.text
    assert not [link for link in own.links if "worker" in link or "build" in link]


async def test_where_nothing_would_be_done_the_field_that_changes_it_has_the_focus(console: Console) -> None:
    client = await console.browser()
    query = "/ops/ops-log/new?q=state:dead_letter+type:ChargeInvoice&step=how"
    assert 'id="rate"' in (await client.get(query)).text.partition("autofocus")[0].rpartition("<")[2]
    await console.api.owner.execute(
        "update postmill.job_definition set replay_class = 'ask' where key = 'ChargeInvoice'"
    )
    assert 'id="ask"' in (await client.get(query)).text.partition("autofocus")[0].rpartition("<")[2]
