"""The name that queues give to their dead letters, on pages and in the API."""

from __future__ import annotations

import json
from urllib.parse import unquote

import pytest

from postmill.domain.access import Role
from tests.console.failing import failing
from tests.console.harness import Console
from tests.console.reading import page, words

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_pages_and_api_know_it(console: Console) -> None:
    world = await failing(console.api)
    queues = [{"name": name, "dead_letters_as": "q:deadletter"} for name in ("billing", "idle")]
    await console.api.owner.execute("select postmill.register_queues(%s)", [json.dumps(queues)])
    ops = await console.browser()
    listed = await page(ops, "/ops/dead?view=list&queue=q:deadletter")
    assert "q:deadletter of billing" in words(listed)
    assert "queue:q:deadletter,billing,idle" in unquote(listed)
    letter = world.letters["acme"][0]
    assert f"letter-{letter}" in listed
    assert "billing shown as q:deadletter" in words(await page(ops, f"/ops/dead/{letter}"))
    assert "ChargeInvoice" in words(await page(ops, "/ops/dead?queue=q:deadletter"))
    acme = await console.api.client(Role.VIEWER, "acme")
    found = (await acme.get("/dead-letters", params={"queue": "q:deadletter"})).json()["items"]
    assert {str(id) for id in world.letters["acme"]} <= {one["id"] for one in found}
    assert {(one["queue"], one["shown_as"]) for one in found} == {("billing", "q:deadletter")}
    assert (await acme.get("/dead-letters", params={"queue": "idle"})).json()["items"] == []
