"""The page Jobs: what it shows to whom, what a query finds, what is done to a selection, views and files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

import pytest
import pytest_asyncio

from postmill.domain.access import Role
from tests.console.harness import Console
from tests.support.jobs_in_states import StateMaker

pytestmark = pytest.mark.asyncio(loop_scope="module")

STATES = ("succeeded", "failed", "canceled", "dead_letter")


@dataclass
class Seen:
    """A job of tenant acme in each state, one of another tenant."""

    ids: dict[str, UUID]
    other: UUID


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def seen(console: Console) -> Seen:
    api = console.api
    await api.define("plain")
    await api.define("Bill.Send", secret_keys=["hush"])
    maker = await StateMaker.begin(api.owner, await api.tenant("acme"))
    ids = {
        "queued": await maker.queued(),
        "scheduled": await maker.scheduled(),
        "running": await maker.running(),
    }
    ids |= {state: await maker.ended(state) for state in STATES}
    client = await api.client(Role.OPERATOR, "acme")
    for payload, key in (
        ({"n": 4242, "hush": "x", "who": {"id": "ann"}}, "order:4711"),
        ({"n": "4243"}, "b b"),
    ):
        made = await client.post(
            "/jobs", json={"definition_key": "Bill.Send", "payload": payload, "dedupe_key": key}
        )
        ids[key] = UUID(made.json()["id"])
    stranger = await StateMaker.begin(api.owner, await api.tenant("other"))
    return Seen(ids, await stranger.queued())


def listed(text: str) -> list[UUID]:
    return [UUID(id) for id in re.findall(r'<tr id="job-([0-9a-f-]{36})"', text)]


async def test_x(console, seen):
    client = await console.browser(Role.TENANT_ADMIN, "acme")
    r = await client.get("/t/acme/jobs")
    print(r.text[:200000])
    assert r.status_code == 200
    for q in [
        "state:failed",
        "type:plain -state:queued",
        "type:Bill.Send args.n:4242",
        "sta:x",
        "b",
        "order:4711",
        '"b b"',
    ]:
        r = await client.get("/t/acme/jobs", params={"q": q})
        print(q, r.status_code, r.headers.get("location"), listed(r.text))
    r = await client.get("/t/acme/facets", params={"term": "type:b"})
    print(r.text)
