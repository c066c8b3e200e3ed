"""What holds jobs back and where a tenant lives, as the console tells it: limits, boosts, versions, cells, steps taken back."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from starlette.requests import Request

from postmill.api.problems import Problem
from postmill.bind import adrive
from postmill.console.frame.faces import face_of
from postmill.console.workflow.drawing import graph
from postmill.console.workflow.undone import undone
from postmill.domain.access import Role
from postmill.domain.workflow_view import StepView
from postmill.operate.tenants import change_tenant
from tests.console.harness import Console, sent
from tests.support.api import opened

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEAT = """insert into postmill.seat (key, seat_no, limit_id, job_id) values (
    coalesce((select key from postmill.limit_rule where name = %(name)s), %(tenant)s), nextval('postmill.seat_seq'),
    coalesce((select id from postmill.limit_rule where name = %(name)s), 0), %(job)s)"""


async def test_what_holds_jobs_back(console: Console) -> None:
    api, owner = console.api, console.api.owner
    await api.define("bake", queue="oven")
    tenants = {slug: await api.tenant(slug) for slug in ("acme", "globex", "initech")}
    jobs: dict[str, UUID] = {}
    for slug, tenant in tenants.items():
        cursor = await owner.execute("select postmill.enqueue('bake', '{}', tenant => %s)", [tenant])
        jobs[slug] = (await cursor.fetchone())[0]  # type: ignore[index]
    client = await console.browser(Role.PLATFORM_OPERATOR)
    page = "/ops/queues/oven"
    assert "No limit over the whole fleet" in (await client.get(page)).text
    refused = await sent(
        client, page, f"{page}/limit", on="queue:oven", per="payload", max_running="1", reason="x"
    )
    assert refused.status_code == 422, refused.text
    done = await sent(
        client,
        page,
        f"{page}/limit",
        on="type:bake",
        per="tenant",
        max_running="1",
        reason="the oven is small",
    )
    assert done.status_code == 303
    await adrive(owner, change_tenant("globex", max_running=1))
    key = "select postmill.limit_key(key, per, %s, '{}') from postmill.limit_rule where name = 'type:bake/tenant'"
    [(counted,)] = await api.rows(key, tenants["acme"])
    await owner.execute(
        "insert into postmill.seat select %s, 1, id, %s from postmill.limit_rule where name = 'type:bake/tenant'",
        [counted, uuid4()],
    )
    await owner.execute(SEAT, {"name": "", "tenant": tenants["globex"], "job": uuid4()})
    await owner.execute(
        "insert into postmill.pin values (%s, %s, 'bake', 7, %s)",
        [jobs["initech"], tenants["initech"], uuid4()],
    )
    await owner.execute(
        "insert into postmill.boost values (%s, %s, 'oven', %s, 100, 40, now() - interval '1 hour', now(), null)",
        [jobs["acme"], tenants["acme"], tenants["acme"]],
    )
    await owner.execute(
        "update postmill.queue set boost_after_seconds = 60, boost_step = 10, boost_to = 10 where name = 'oven'"
    )
    listed = (await client.get("/ops/jobs?q=queue:oven")).text
    for words in (
        "limit type:bake/tenant is full",
        "tenant at its limit",
        "waits for version v7: no live worker runs it",
    ):
        assert words in listed, words
    shown = (await client.get(page)).text
    for words in (
        "1 of 1 are full, with 1 each",
        "the limit type:bake/tenant",
        "Workers needed",
        "by 10 for each 1 min",
        "1 job is raised now",
    ):
        assert words in shown, words
    assert "type:bake/tenant" in (await client.get("/ops/budgets")).text
    own = (await client.get("/ops/tenants/globex")).text
    assert "full: 1 of 1 run" in own
    raised = (await client.get(f"/ops/jobs/{jobs['acme']}")).text
    assert "raised from priority 100 to 40" in raised
    assert "version v7 of its job type" in (await client.get(f"/ops/jobs/{jobs['initech']}")).text
    assert (
        "bake/tenant"
        not in (await (await console.browser(Role.TENANT_ADMIN, "globex")).get("/t/globex/jobs")).text
    )
    cleared = await sent(client, page, f"{page}/limit-clear", name="type:bake/tenant", reason="a larger oven")
    assert cleared.status_code == 303
    assert "rule-type:bake/tenant" not in (await client.get(page)).text
    audit = (await client.get("/ops")).text
    assert "Limit set" in audit
    assert "Limit cleared" in audit
    viewer = await console.browser(Role.PLATFORM_VIEWER)
    assert (
        await sent(viewer, page, f"{page}/limit", on="queue:oven", max_running="1", reason="x")
    ).status_code == 403


async def test_where_the_verdict_leads(console: Console) -> None:
    client, owner = await console.browser(Role.PLATFORM_OPERATOR), console.api.owner
    for kind, key in (("dead_letters", "x"), ("missed_trigger", str(uuid4()))):
        [(id,)] = await console.api.rows(
            "insert into postmill.incident (id, kind, key, severity, title, opened_at, last_at, cycle_at) values"
            " (postmill.new_id(), %s, %s, 'warning', 'x', now(), now(), now()) returning id",
            kind,
            key,
        )
        await owner.execute(
            "insert into postmill.incident_part select %s, id, 3, now(), now() from postmill.tenant where slug = 'globex'",
            [id],
        )
    page = (await client.get("/ops/tenants?affected=1")).text
    assert 'id="tenant-globex"' in page
    assert 'id="tenant-acme"' not in page
    assert "No trigger is like that" in (await client.get("/ops/triggers?state=missed")).text


async def test_the_cell_and_a_tenant_on_its_way(console: Console) -> None:
    cells = {
        "east": {"database_url": console.api.database.dsn, "directory": True},
        "west": {"database_url": "postgresql://nobody@127.0.0.1:1/nowhere"},
    }
    async with opened(console.api.database, others={"cells": cells}) as api:
        there = Console(api)
        client = await there.browser(Role.SUPER_ADMIN)
        for path in ("/ops/tenants", "/ops/jobs"):
            page = (await client.get(path)).text
            assert "Cell east" in page
            assert "does not answer" in page
        assert "<dt>Cell</dt><dd>east</dd>" in (await client.get("/ops/tenants/default")).text
        assert "Cell east, which has logins of its own" in (await client.get("/login")).text
        await api.define("carry")
        [(id,)] = await api.rows("select postmill.enqueue('carry', '{}')")
        await api.rows("select id from postmill.cancel_jobs(array[%s::uuid])", id)
        await api.owner.execute(
            "insert into postmill.tenant_gate select id, 'closed', 'west', %s, now() from postmill.tenant where slug = 'default'",
            [uuid4()],
        )
        await api.owner.execute("update postmill.partition_horizon set gated = true")
        try:
            answer = await sent(client, f"/ops/jobs/{id}", f"/ops/jobs/{id}/act", act="replay")
        finally:
            await api.owner.execute("delete from postmill.tenant_gate")
            await api.owner.execute("update postmill.partition_horizon set gated = false")
        assert answer.status_code == 303
        assert "being carried to another cell" in (await client.get(answer.headers["location"])).text
    for method, way in (("GET", "Try again"), ("POST", "send the form again")):
        scope = {
            "type": "http",
            "method": method,
            "path": "/ops/jobs",
            "query_string": b"",
            "headers": [(b"accept", b"text/html")],
        }
        page = await face_of(Request(scope), Problem(503, "tenant-moving", "x"))
        assert page is not None
        assert page.status_code == 503
        assert "This tenant is moving" in bytes(page.body).decode()
        assert way in bytes(page.body).decode()
    assert "Cell" not in (await (await console.browser(Role.SUPER_ADMIN)).get("/ops/jobs")).text


async def test_steps_that_were_taken_back() -> None:
    def step(no: int, name: str, state: str, **more: object) -> StepView:
        values = {"role": "step", "compensates": None, "has_compensation": False, **more}
        return StepView(
            no,
            name,
            values["role"],
            "t",
            None,
            state,
            0,
            None,
            values["compensates"],
            None,
            values["has_compensation"],
        )  # type: ignore[arg-type]

    steps = [
        step(1, "book", "succeeded", has_compensation=True),
        step(2, "pay", "succeeded", has_compensation=True),
        step(3, "ship", "succeeded", has_compensation=True),
        step(4, "refund", "succeeded", role="compensation", compensates=2),
        step(5, "recall", "dead_letter", role="compensation", compensates=3),
    ]
    names = {one.no: one.name or "" for one in steps}
    assert undone(steps, names) == {
        1: "can be taken back", 2: "taken back", 3: "could not be taken back", 4: "takes back pay", 5: "takes back ship",
    }  # fmt: skip
    drawn = graph(steps, [], title="order", link=lambda node: None)
    assert "<title>pay: taken back</title>" in drawn
    assert "<title>ship: taken back</title>" not in drawn
