"""Jobs for the page Jobs: of tenant acme one in each state, and how what a page shows of them is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

from postmill.domain.access import Role
from tests.console.harness import Console
from tests.support.jobs_in_states import StateMaker

STATES = ("succeeded", "failed", "canceled", "dead_letter")


@dataclass
class Seen:
    """A job of tenant acme in each state, one of another tenant."""

    ids: dict[str, UUID]
    other: UUID


async def see(console: Console) -> Seen:
    """Makes them."""
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


def heads(text: str) -> list[str]:
    """The columns that are named in words; the chart has a table, too."""
    return re.findall(r'<th scope="col"[^>]*>([^<]+)</th>', text.partition('id="part-rows"')[2])
