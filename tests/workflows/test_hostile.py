"""Workflows that cannot be, through every door: a clear error, and nothing inserted."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from psycopg import Connection

from postmill import NewJob, PostmillError, Workflow, start_workflow
from postmill.domain.access import Role
from tests.support.api import Api, opened, problem
from tests.support.databases import Database
from tests.support.flows import advance, status_of
from tests.support.sessions import WorkerSession, bury, complete, one, promote, shifted

JOB = """insert into postmill.queue (name) values ('default') on conflict do nothing;
insert into postmill.job_definition (key, queue, max_attempts) values ('work', 'default', 3)"""
COUNT = """select (select count(*) from postmill.workflow) + (select count(*) from postmill.workflow_step)
    + (select count(*) from postmill.workflow_edge) + (select count(*) from postmill.any_job)"""


def step(**more: Any) -> dict[str, Any]:
    return {"name": "a", "job_type": "work", **more}


def job(**more: Any) -> dict[str, Any]:
    return {"job_type": "work", **more}


WIDE = [{"name": f"s{n}", "job_type": "work"} for n in range(10_001)]
CROWD = [
    *WIDE[:400],
    *({"name": f"t{n}", "job_type": "work", "after": [f"s{m}" for m in range(400)]} for n in range(251)),
]
SQL: list[tuple[Any, str]] = [
    ([], "must be a JSON object"),
    ({"steps": [step()]}, "name: must have 1 to 200 bytes"),
    ({"name": 5, "steps": [step()]}, "name: must be a text"),
    ({"name": "f", "key": {}, "steps": [step()]}, "key: must be a text"),
    ({"name": "f", "fail_fast": "no", "steps": [step()]}, "fail_fast: must be true or false"),
    ({"name": "f", "stepz": [step()]}, 'knows no "stepz"'),
    ({"name": "f", "steps": {}}, "steps: must be a JSON array"),
    ({"name": "f", "steps": WIDE}, "10001 are too many"),
    ({"name": "f", "steps": CROWD}, "100400 lines between them"),
    ({"name": "f", "kind": "batch", "steps": [step()]}, 'knows no "name"'),
    *(
        ({"name": "f", "steps": [given]}, why)
        for given, why in (
            (step(pirority=5), 'knows no "pirority"'),
            (step(name="é" * 201), "1 to 200 characters"),
            (step(payload=[]), "payload: must be a JSON object"),
            (step(after="b"), "after: must be a list"),
            (step(after=[{"step": "b", "fail": "hold"}]), "name of a step, or an object of step and failure"),
            (step(after=["a"]), "comes later"),
            (step(priority=1.5), "priority: must be a whole number"),
            (step(delay="soon"), "delay: must be a number of seconds"),
            (step(scheduled_for="soon"), "scheduled_for: must be a moment"),
            (step(scheduled_for="infinity"), "before the end of the year 9999"),
            (step(tags=[5]), "5 is no tag"),
            (step(compensate=job(priority="x")), 'step "a": compensate: priority'),
            (step(compensate=job(scheduled_for="infinity")), "compensate: scheduled_for"),
        )
    ),
    ({"name": "f", "steps": [step(), {**step(name="b"), "after": ["a", {"step": "a", "failure": "hold"}]}]}, "twice"),
    ({"name": "f", "steps": [step()], "on_finish": job(priority="x")}, "on_finish: priority"),
    ({"name": "f", "steps": [step()], "on_success": job(delay=1e300)}, "on_success: delay"),
]  # fmt: skip


def test_through_sql(pg: Connection[Any]) -> None:
    pg.execute(JOB)
    for spec, why in SQL:
        status, detail = one(
            pg, "select status, detail from postmill.start_workflow(%s::jsonb)", json.dumps(spec)
        )
        assert (status, why in detail) == ("invalid", True), (spec if len(str(spec)) < 300 else "", detail)
    with pytest.raises(Exception, match='no workflow "f" was made: there is no job type "wrok"'):
        one(pg, "select postmill.workflow('f', %s::jsonb)", json.dumps([step(job_type="wrok")]))
    assert one(pg, COUNT) == 0
    # Names may be anything that can be stored, and two tenants may have one key.
    names = ["é" * 100, "a b\tc", "'; drop table workflow; --", "🪵", "null", "{}"]
    flow = Workflow("日本 🪵", key="k")
    for n, name in enumerate(names):
        flow.add(name, NewJob.of("work"), after=names[:n])
    id = start_workflow(pg, flow).id
    session = WorkerSession(pg)
    for _ in names:
        complete(pg, session.claim(10))
        advance(pg)
    assert status_of(pg, id) == "succeeded"


def test_through_python(pg: Connection[Any]) -> None:
    pg.execute(JOB)
    for name in ("", "x" * 201, "\x00", "\ud800"):
        with pytest.raises(PostmillError, match="name"):
            Workflow(name)
        with pytest.raises(PostmillError, match="name"):
            Workflow("f").add(name, NewJob.of("work"))
    with pytest.raises(PostmillError, match="'pray' is none of cancel, continue, hold"):
        Workflow("f").add("a", NewJob.of("work"), parent_failure="pray")  # type: ignore[arg-type]
    crowd = Workflow("crowd")
    names = [crowd.add(f"s{n}", NewJob.of("work")) for n in range(400)]
    for n in range(251):
        crowd.add(f"t{n}", NewJob.of("work"), after=names)
    with pytest.raises(PostmillError, match="100400 lines"):
        start_workflow(pg, crowd)
    assert one(pg, COUNT) == 0


def test_what_is_enqueued_at_the_end_waits_as_it_was_told_to(pg: Connection[Any]) -> None:
    """The delay of a compensation counts from the end of the one before, that of a callback from the end of all."""
    pg.execute(JOB)
    flow = Workflow("slow", on_finish=NewJob.of("work", {"last": True}, delay=60.0))
    flow.add("a", NewJob.of("work"), compensate=NewJob.of("work", {"undo": "a"}, delay=60.0))
    flow.add("b", NewJob.of("work"), after="a", compensate=NewJob.of("work", {"undo": "b"}))
    flow.add("c", NewJob.of("work"), after="b")
    id = start_workflow(pg, flow).id
    session = WorkerSession(pg, lease=3600.0)
    for report in (complete, complete, bury, complete):
        report(pg, session.claim(10))
        advance(pg)
    late = "select round(extract(epoch from run_at - postmill.now())) from postmill.scheduled"
    assert session.claim(10) == []
    assert 50 <= one(pg, late) <= 60
    with shifted(pg, "61 s"):
        promote(pg)
        complete(pg, session.claim(10))
        advance(pg)
        assert status_of(pg, id) == "failed"
        assert 50 <= one(pg, late) <= 60


async def _two_at_once(api: Api) -> None:
    """One answer for two identical requests, and one workflow for two starts under one key."""
    client = await api.client(Role.TENANT_ADMIN, "acme")
    body = {"name": "twin", "steps": [{"name": "a", "definition_key": "work"}]}

    async def start(**headers: str) -> Any:
        return await client.post("/workflows", json=body, headers=headers)

    answers = await asyncio.gather(*(start(**{"Idempotency-Key": "once"}) for _ in range(4)))
    made = [one for one in answers if one.status_code == 201]
    assert {one.status_code for one in answers} <= {201, 409}
    assert len({one.json()["id"] for one in made}) == 1
    body["key"] = "only"
    answers = await asyncio.gather(*(start() for _ in range(4)))
    assert sorted(one.status_code for one in answers) == [200, 200, 200, 201]
    assert len({one.json()["id"] for one in answers}) == 1
    other = await api.client(Role.TENANT_ADMIN, "beta")
    assert (await other.post("/workflows", json=body)).status_code == 201
    assert await api.rows("select name, count(*) from postmill.workflow group by name") == [("twin", 3)]


async def test_over_http(database: Database) -> None:
    async with opened(database) as api:
        await api.define("work")
        client = await api.client(Role.TENANT_ADMIN, "acme")
        beta = str(await api.tenant("beta"))

        def named(name: str, *after: Any, **more: Any) -> dict[str, Any]:
            return {"name": name, "definition_key": "work", "after": [{"step": one} for one in after], **more}

        wide = [{"name": str(n), "definition_key": "work"} for n in range(10_001)]
        for steps, status, why in (
            ([], 422, "invalid-request"),
            (wide, 422, "invalid-request"),
            ([named("")], 422, "invalid-request"),
            ([named("é" * 101)], 422, "invalid-payload"),
            ([named("\x00")], 422, "unstorable"),
            ([named("a", "a")], 422, "workflow-refused"),
            ([named("a", "b"), named("b", "a")], 422, "workflow-refused"),
            ([named("a", "z")], 422, "workflow-refused"),
            ([named("a"), named("a")], 422, "workflow-refused"),
            ([named("a"), named("b", "a", "a")], 422, "workflow-refused"),
            ([named("a", pirority=5)], 422, "invalid-request"),
            ([named("a", compensate={"definition_key": "wrok"})], 422, "unknown-definition"),
            ([{"name": "a", "definition_key": "work", "after": [{"step": "b", "failure": "pray"}]}], 422, "invalid-request"),
        ):  # fmt: skip
            problem(await client.post("/workflows", json={"name": "f", "steps": steps}), status, why)
        # Another tenant's is none of one's business.
        stranger = {"name": "f", "steps": [named("a")], "tenant_id": beta}
        assert (await client.post("/workflows", json=stranger)).status_code in (403, 404, 422)
        assert await api.rows(COUNT) == [(0,)]
        await _two_at_once(api)
