"""History as one stream: the log and the lives of jobs, in their true order, each event once, within one's tenant."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import pytest
import pytest_asyncio

from postmill.bind import adrive, arun
from postmill.domain.access import Role
from postmill.operate.audit import settled
from postmill.store.audit import advance_horizon
from tests.access.world import Tenant
from tests.support.api import Api, opened, problem
from tests.support.databases import Database
from tests.support.eventually import aeventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIVES = {
    "queued": ["job.enqueued"],
    "scheduled": ["job.enqueued"],
    "running": ["job.enqueued"],
    "succeeded": ["job.enqueued", "job.started", "job.succeeded"],
    "failed": ["job.enqueued", "job.started", "job.failed"],
    "dead": ["job.enqueued", "job.started", "job.failed", "job.deadlettered"],
    "retried": ["job.enqueued", "job.started", "job.failed", "job.retried"],
    "job_kept": ["job.enqueued"],
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(world_database: Database, _built: Any) -> AsyncIterator[Api]:
    async with opened(world_database) as made:
        made.tenants |= {tenant.mark: tenant.id for tenant in _built[1]}
        await adrive(made.owner, settled(patience=10.0))
        yield made


async def pages(api: Api, role: Role, tenant: str | None, **params: Any) -> list[dict[str, Any]]:
    """Everything, page by page."""
    client = await api.client(role, tenant)
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        answer = await client.get("/audit", params=params | ({"cursor": cursor} if cursor else {}))
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += page["items"]
        cursor = page["next"]
        if cursor is None:
            assert page["resume"]
            return found


@pytest.mark.parametrize("limit", [1, 3, 7, 1000])
async def test_the_lives_of_jobs(api: Api, tenants: list[Tenant], limit: int) -> None:
    """Whatever a page holds: each event once, each life in its order."""
    own = tenants[0]
    found = await pages(api, Role.TENANT_ADMIN, own.mark, limit=min(limit, 200), kind="job")
    lives = {name: [e["event"] for e in found if e["job_id"] == str(own.ids[name])] for name in LIVES}
    assert lives == LIVES
    assert Counter(e["id"] for e in found).most_common(1)[0][1] == 1
    order = [(datetime.fromisoformat(e["recorded_at"]), e["id"]) for e in found]
    assert order == sorted(order)


async def test_what_an_event_says(api: Api, tenants: list[Tenant]) -> None:
    own = tenants[0]
    found = await pages(api, Role.TENANT_ADMIN, own.mark, kind="job")
    [ended] = [e for e in found if e["job_id"] == str(own.ids["failed"]) and e["event"] == "job.failed"]
    assert (ended["org_id"], ended["job_type"], ended["attempt"], ended["status"]) == (
        str(own.id),
        "world",
        1,
        "failed",
    )
    assert {"actor_type", "actor_id", "request_id", "correlation_id", "project_id"} <= set(ended)
    assert ended["error_class"] == "ValueError"
    assert ended["started_at"] < ended["finished_at"] == ended["at"]
    [started] = [e for e in found if e["job_id"] == str(own.ids["failed"]) and e["event"] == "job.started"]
    assert started["at"] == ended["started_at"]
    assert started["recorded_at"] == ended["recorded_at"]


async def test_the_log_is_in_the_same_stream(api: Api, tenants: list[Tenant]) -> None:
    own = tenants[0]
    found = await pages(api, Role.TENANT_ADMIN, own.mark)
    kinds = Counter(e["kind"] for e in found)
    assert kinds["audit"] >= 1
    assert kinds["job"] >= 15
    [made] = [e for e in found if e["event"] == "world.make"]
    assert (made["target"], made["via"], made["db_role"], made["after"]) == (
        own.mark,
        "sql",
        "postgres",
        {"mark": own.mark},
    )
    only = await pages(api, Role.TENANT_ADMIN, own.mark, event="world.make")
    assert [e["id"] for e in only] == [made["id"]]
    assert {e["event"] for e in await pages(api, Role.TENANT_ADMIN, own.mark, event=["job.failed"])} == {
        "job.failed"
    }


async def test_each_sees_his_own(api: Api, tenants: list[Tenant]) -> None:
    own, other = tenants
    for tenant in tenants:
        found = await pages(api, Role.AUDITOR, tenant.mark)
        assert {e["org_id"] for e in found} == {str(tenant.id)}
    everything = await pages(api, Role.AUDITOR, None)
    assert {str(own.id), str(other.id)} <= {e["org_id"] for e in everything}
    rows = (await (await api.client(Role.AUDITOR, own.mark)).get("/audit/log")).json()["items"]
    assert rows
    assert {row["tenant_id"] for row in rows} == {str(own.id)}


async def test_as_lines_with_a_cursor_each(api: Api, tenants: list[Tenant]) -> None:
    client = await api.client(Role.AUDITOR, tenants[0].mark)
    await adrive(api.owner, settled(patience=10.0))  # making the key was written down, too
    answer = await client.get("/audit", params={"format": "ndjson"})
    assert answer.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [line["id"] for line in lines] == [
        e["id"] for e in await pages(api, Role.AUDITOR, tenants[0].mark)
    ]
    by_header = await client.get("/audit", headers={"Accept": "application/x-ndjson"})
    assert by_header.text == answer.text
    half = lines[len(lines) // 2]
    rest = await client.get("/audit", params={"format": "ndjson", "cursor": half["cursor"]})
    assert [json.loads(line)["id"] for line in rest.text.splitlines()] == [
        e["id"] for e in lines[len(lines) // 2 + 1 :]
    ]
    assert (
        await client.get("/audit", params={"format": "ndjson", "since": "2100-01-01T00:00:00Z"})
    ).text == ""


async def test_going_on_where_one_was(api: Api, tenants: list[Tenant]) -> None:
    client = await api.client(Role.AUDITOR, tenants[0].mark)
    await adrive(api.owner, settled(patience=10.0))
    page = (await client.get("/audit", params={"limit": 200})).json()
    while page["next"] is not None:
        page = (await client.get("/audit", params={"limit": 200, "cursor": page["next"]})).json()
    nothing = (await client.get("/audit", params={"cursor": page["resume"]})).json()
    assert (nothing["items"], nothing["next"]) == ([], None)
    await api.owner.execute("select postmill.audit('world.more', null, null, %s)", [tenants[0].id])

    async def more() -> list[str]:
        items = (await client.get("/audit", params={"cursor": page["resume"]})).json()["items"]
        return [e["event"] for e in items]

    assert await aeventually(more) == ["world.more"]


async def test_what_is_no_cursor(api: Api) -> None:
    client = await api.client(Role.AUDITOR, None)
    for cursor in ("x", "WyIyMDMxIl0", "W10", "WyJ4IiwieSJd"):
        problem(await client.get("/audit", params={"cursor": cursor}), 422, "invalid-cursor")
    problem(await client.get("/audit", params={"kind": "both"}), 422, "invalid-request")


async def test_closed_dead_letters_are_told_once(api: Api, tenants: list[Tenant]) -> None:
    """A letter that is replayed leaves the list, and stays in history where it was."""
    other = tenants[1]
    before = [
        e["event"]
        for e in await pages(api, Role.AUDITOR, other.mark)
        if e["job_id"] == str(other.ids["dead"])
    ]
    assert before == LIVES["dead"]
    client = await api.client(Role.OPERATOR, other.mark)
    answer = await client.post(f"/jobs/{other.ids['dead']}/retry", json={})
    assert answer.status_code == 201, answer.text
    new = answer.json()["id"]
    canceled = await client.post(f"/jobs/{new}/cancel", json={"reason": "enough"})
    assert canceled.status_code in (200, 202), canceled.text
    moment = (await api.rows("select postmill.now()"))[0][0]
    await aeventually(lambda: _past(api, moment))
    found = await pages(api, Role.AUDITOR, other.mark)
    assert [e["event"] for e in found if e["job_id"] == str(other.ids["dead"])] == LIVES["dead"]
    assert [e["event"] for e in found if e["job_id"] == new] == ["job.enqueued", "job.canceled"]
    acts = [(e["event"], e["role"], e["via"]) for e in found if e["target"] in (str(other.ids["dead"]), new)]
    assert acts == [("jobs.retry", "operator", "api"), ("jobs.cancel", "operator", "api")]


async def _past(api: Api, moment: datetime) -> bool:
    return await arun(api.owner, advance_horizon()) > moment
