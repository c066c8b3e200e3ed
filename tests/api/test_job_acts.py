"""What may be done to jobs and dead letters over HTTP, in every state that matters, and what the log says of it."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import httpx
import pytest
import pytest_asyncio

from postmill.domain.access import Role
from postmill.operate.doctor.examine import CHECKS
from tests.support.api import Api, problem
from tests.support.jobs_in_states import StateMaker

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(api: Api) -> httpx.AsyncClient:
    await api.define("plain", max_attempts=4)
    await api.define("once", replay_class="never")
    await api.define("asked", replay_class="ask")
    return await api.client()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def make(api: Api, client: httpx.AsyncClient) -> StateMaker:
    return await StateMaker.begin(api.owner, api.tenants["acme"])


async def audited(api: Api, job_id: object) -> list[tuple[Any, ...]]:
    return await api.rows(
        "select action, before, after, reason, via, role from postmill.audit_log where target = %s order by id",
        str(job_id),
    )


async def test_cancel(api: Api, client: httpx.AsyncClient, make: StateMaker) -> None:
    waits = await make.queued()
    answer = await client.post(f"/jobs/{waits}/cancel", json={"reason": "wrong customer"})
    assert (answer.status_code, answer.json()) == (
        200,
        {"id": str(waits), "status": "canceled", "cancel_requested": False},
    )
    job = (await client.get(f"/jobs/{waits}")).json()
    assert (job["status"], job["reason"]) == ("canceled", "wrong customer")
    assert await audited(api, waits) == [
        (
            "jobs.cancel",
            {"status": "queued"},
            {"status": "canceled", "cancel_requested": False},
            "wrong customer",
            "api",
            "tenant_admin",
        )
    ]
    problem(await client.post(f"/jobs/{waits}/cancel"), 409, "job-finished")
    assert len(await audited(api, waits)) == 1
    runs = await make.running()
    answer = await client.post(f"/jobs/{runs}/cancel")
    assert (answer.status_code, answer.json()["cancel_requested"]) == (202, True)
    assert (await client.get(f"/jobs/{runs}")).json()["cancel_requested"]


async def test_retry_of_a_waiting_one_makes_it_due(
    api: Api, client: httpx.AsyncClient, make: StateMaker
) -> None:
    id = await make.scheduled()
    answer = await client.post(f"/jobs/{id}/retry")
    assert (answer.status_code, answer.json()["status"], answer.json()["id"]) == (200, "queued", str(id))
    assert [row[0] for row in await audited(api, id)] == ["jobs.retry"]
    # It is due already: nothing to do, and nothing wrong.
    assert (await client.post(f"/jobs/{id}/retry")).status_code == 200
    assert len(await audited(api, id)) == 1


@pytest.mark.parametrize("state", ["failed", "canceled", "dead_letter"])
async def test_retry_of_an_ended_one_is_a_replay(
    api: Api, client: httpx.AsyncClient, make: StateMaker, state: str
) -> None:
    id = await make.ended(state)
    answer = await client.post(f"/jobs/{id}/retry")
    assert answer.status_code == 201, answer.text
    new = answer.json()
    assert new["id"] != str(id)
    assert (new["replayed_from"], new["status"]) == (str(id), "queued")
    assert answer.headers["location"].endswith(new["id"])
    old = (await client.get(f"/jobs/{id}")).json()
    assert (old["status"], old["replayed_as"]) == (state, new["id"])
    letters = (await client.get("/dead-letters")).json()["items"]
    assert str(id) not in [letter["id"] for letter in letters]
    document = problem(await client.post(f"/jobs/{id}/retry"), 409, "job-live")
    assert document["job_id"] == new["id"]
    (row,) = await audited(api, id)
    assert (row[0], row[2]["replayed_as"]) == ("jobs.retry", new["id"])


async def test_what_cannot_be_retried(client: httpx.AsyncClient, make: StateMaker) -> None:
    for id, kind in (
        (await make.running(), "job-running"),
        (await make.ended("succeeded"), "job-succeeded"),
        (await make.ended("failed", "once"), "job-never"),
    ):
        problem(await client.post(f"/jobs/{id}/retry"), 409, kind)


async def test_what_must_be_asked_about(api: Api, client: httpx.AsyncClient, make: StateMaker) -> None:
    dead, failed = await make.ended("dead_letter", "asked"), await make.ended("failed", "asked")
    for path, body in (
        (f"/jobs/{failed}/retry", None),
        (f"/jobs/{failed}/retry", {"confirm": False}),
        (f"/jobs/{dead}/retry", {}),
        (f"/dead-letters/{dead}/replay", {"again": True}),
    ):
        refused = problem(await client.post(path, json=body), 409, "job-unconfirmed")
        assert "`confirm`" in refused["detail"]
    assert await audited(api, dead) == await audited(api, failed) == []
    for path in (f"/jobs/{failed}/retry", f"/dead-letters/{dead}/replay"):
        assert (await client.post(path, json={"confirm": True})).status_code == 201
    problem(await client.post(f"/jobs/{failed}/retry", json={"confirm": True}), 409, "job-live")
    never = await make.ended("failed", "once")
    problem(await client.post(f"/jobs/{never}/retry", json={"confirm": True}), 409, "job-never")
    # What only waits for its next attempt is no replay.
    assert (await client.post(f"/jobs/{await make.scheduled('asked')}/retry")).status_code == 200


async def test_priority_of_one(api: Api, client: httpx.AsyncClient, make: StateMaker) -> None:
    for id in (await make.queued(), await make.scheduled()):
        body = {"priority": 7, "reason": "the customer waits"}
        answer = await client.patch(f"/jobs/{id}/priority", json=body)
        assert (answer.status_code, answer.json()) == (200, {"id": str(id), "priority": 7, "changed": True})
        assert (await client.get(f"/jobs/{id}")).json()["priority"] == 7
        assert not (await client.patch(f"/jobs/{id}/priority", json=body)).json()["changed"]
        (row,) = await audited(api, id)
        assert row[:4] == ("jobs.priority", {"priority": 100}, {"priority": 7}, "the customer waits")
    for id, kind in ((await make.running(), "job-running"), (await make.ended("succeeded"), "job-finished")):
        problem(await client.patch(f"/jobs/{id}/priority", json={"priority": 7}), 409, kind)
    tickets = await api.rows(
        "select id, count(*) from (select id from postmill.ready union all select id from"
        " postmill.scheduled union all select id from postmill.running) t group by 1 having count(*) > 1"
    )
    assert tickets == []


async def test_tags(api: Api, client: httpx.AsyncClient, make: StateMaker) -> None:
    body = {"definition_key": "plain", "tags": ["vip", "vip", "night"]}
    made = await client.post("/jobs", json=body)
    assert made.status_code == 201, made.text
    id = made.json()["id"]
    for key in ({}, {"Idempotency-Key": "once"}):
        again = await client.post("/jobs", json=body | {"dedupe_key": str(key)}, headers=key)
        assert (await client.get(f"/jobs/{again.json()['id']}")).json()["tags"] == ["night", "vip"]
    for wrong in (["a b"], ["-x"], [""], ["x" * 41], [str(n) for n in range(9)], "vip", [7]):
        refused = await client.post("/jobs", json=body | {"tags": wrong})
        assert refused.status_code == 422, wrong
        assert "tags" in refused.text
    path, change = f"/jobs/{id}/tags", {"add": ["new"], "remove": ["night"], "reason": "sorted"}
    assert (await client.patch(path, json=change)).json() == {"id": id, "changed": True}
    assert not (await client.patch(path, json=change)).json()["changed"]
    (row,) = await audited(api, UUID(id))
    assert row[:4] == ("jobs.tag", {"tags": ["night", "vip"]}, {"tags": ["new", "vip"]}, "sorted")
    problem(await client.patch(path, json={"add": [str(n) for n in range(7)]}), 409, "job-full")
    assert (await client.patch(path, json={})).status_code == 422
    foreign = await (await StateMaker.begin(api.owner, await api.tenant("globex"))).queued()
    problem(await client.patch(f"/jobs/{foreign}/tags", json=change), 404, "not-found")
    viewer = await api.client(Role.VIEWER)
    problem(await viewer.patch(path, json=change), 403, "forbidden")


async def test_priority_by_filter(api: Api, client: httpx.AsyncClient, make: StateMaker) -> None:
    await api.define("rush")
    mine = [await make.queued("rush") for _ in range(3)]
    theirs = await (await StateMaker.begin(api.owner, await api.tenant("globex"))).queued("rush")
    body = {"priority": 1, "filter": {"status": "queued", "definition_key": "rush"}}
    answer = (await client.patch("/jobs/priority", json=body)).json()
    assert answer == {"changed": 3, "unchanged": 0, "skipped": 0, "next": None}
    assert (await client.patch("/jobs/priority", json=body)).json()["unchanged"] == 3
    rows = await api.rows("select id, priority from postmill.ready where id = any(%s)", [*mine, theirs])
    assert dict(rows) == dict.fromkeys(mine, 1) | {theirs: 100}


async def test_dead_letters(api: Api, client: httpx.AsyncClient, make: StateMaker) -> None:
    first, second, third = [await make.ended("dead_letter") for _ in range(3)]
    page = (await client.get("/dead-letters", params={"limit": 2})).json()
    assert [letter["id"] for letter in page["items"]] == [str(third), str(second)]
    assert page["items"][0]["reason"] == "max_retries_exceeded"
    page = (await client.get("/dead-letters", params={"limit": 2, "cursor": page["next"]})).json()
    assert str(first) in [letter["id"] for letter in page["items"]]
    for filter, n in (
        ({"reason": "max_retries_exceeded"}, 3),
        ({"reason": "other"}, 0),
        ({"definition_key": "once"}, 0),
    ):
        found = (await client.get("/dead-letters", params=filter)).json()
        assert (len(found["items"]) >= n) if n else found["items"] == []
    letter = (await client.get(f"/dead-letters/{first}")).json()
    assert (letter["error_class"], letter["payload"]) == ("ValueError", {"n": 1})
    assert (await (await api.client(Role.VIEWER)).get(f"/dead-letters/{first}")).json()["payload"] is None
    other = await api.client(Role.TENANT_ADMIN, "globex")
    problem(await other.get(f"/dead-letters/{first}"), 404, "not-found")
    problem(await other.post(f"/dead-letters/{first}/replay"), 404, "not-found")
    problem(await other.post(f"/dead-letters/{first}/discard"), 404, "not-found")

    answer = await client.post(f"/dead-letters/{first}/replay", json={"payload": {"n": 2}})
    assert answer.status_code == 201, answer.text
    assert (await client.get(f"/jobs/{answer.json()['id']}")).json()["payload"] == {"n": 2}
    new = answer.json()["id"]
    refused = problem(await client.post(f"/dead-letters/{first}/replay"), 409, "job-live")
    assert refused["job_id"] == new
    await client.post(f"/jobs/{new}/cancel")
    refused = problem(await client.post(f"/dead-letters/{first}/replay"), 409, "job-already-replayed")
    assert refused["job_id"] == new
    problem(await client.post(f"/jobs/{first}/retry"), 409, "job-already-replayed")
    problem(await other.post(f"/dead-letters/{first}/replay"), 404, "not-found")
    assert [row[:3] for row in await audited(api, first)] == [
        (
            "dead.replay",
            {"status": "dead_letter"},
            {
                "replayed_as": answer.json()["id"],
                "payload_edited": True,
                "changes": [{"path": "/n", "before": 1, "after": 2}],
            },
        )
    ]
    answer = await client.post(f"/dead-letters/{second}/discard", json={"reason": "will not be mended"})
    assert answer.json() == {"id": str(second), "status": "failed"}
    assert (await client.get(f"/jobs/{second}")).json()["reason"] == "will not be mended"
    problem(await client.post(f"/dead-letters/{second}/discard"), 404, "not-found")
    assert [row[0] for row in await audited(api, second)] == ["dead.discard"]


async def test_queues_are_the_platforms(api: Api, client: httpx.AsyncClient, make: StateMaker) -> None:
    await make.queued()
    platform = await api.client(Role.PLATFORM_OPERATOR, None)
    seen = (await client.get("/queues/default")).json()
    assert (seen["queued"], seen["running"], seen["paused"]) == (None, None, False)
    assert (await platform.get("/queues/default")).json()["queued"] >= 1
    problem(await client.post("/queues/default/pause"), 403, "forbidden")
    body = {"reason": "provider is down", "resume_at": "2031-01-01T00:00:00Z"}
    answer = (await platform.post("/queues/DEFAULT/pause", json=body)).json()
    assert (answer["name"], answer["paused"], answer["pause_reason"]) == ("default", True, "provider is down")
    assert answer["resume_at"] == "2031-01-01T00:00:00Z"
    assert (await client.get("/queues")).json()["items"][0]["pause_reason"] == "provider is down"
    id = await make.queued()
    reasons = (await client.get(f"/jobs/{id}/why")).json()["reasons"]
    assert reasons[0]["code"] == "queue_paused"
    assert reasons[0]["until"] == "2031-01-01T00:00:00Z"
    assert not (await platform.post("/queues/default/resume")).json()["paused"]
    problem(await platform.post("/queues/defalt/pause"), 404, "unknown-queue")
    problem(await platform.get("/queues/q%2Fa"), 404, "not-found")
    assert [row[0] for row in await audited(api, "default")] == ["queues.pause", "queues.resume"]


async def test_attempts_and_why(client: httpx.AsyncClient, make: StateMaker) -> None:
    runs = await make.running()
    (attempt,) = (await client.get(f"/jobs/{runs}/attempts")).json()["items"]
    assert (attempt["status"], attempt["attempt_no"], attempt["worker_id"]) == ("running", 1, "w1")
    assert [r["code"] for r in (await client.get(f"/jobs/{runs}/why")).json()["reasons"]] == ["running"]
    dead = await make.ended("dead_letter")
    (attempt,) = (await client.get(f"/jobs/{dead}/attempts")).json()["items"]
    assert (attempt["status"], attempt["error_text"]) == ("failed", "broken")
    (reason,) = (await client.get(f"/jobs/{dead}/why")).json()["reasons"]
    assert reason["text"] == "it is dead_letter: max_retries_exceeded (ValueError: broken)"
    later = await make.scheduled()
    codes = [r["code"] for r in (await client.get(f"/jobs/{later}/why")).json()["reasons"]]
    assert codes == ["not_due", "no_worker_for_type"]
    assert UUID((await client.get(f"/jobs/{later}/why")).json()["id"]) == later


async def test_the_doctor_is_the_platforms(api: Api, client: httpx.AsyncClient) -> None:
    problem(await client.get("/doctor"), 403, "forbidden")
    platform = await api.client(Role.PLATFORM_VIEWER, None)
    found, waited = [
        (await one).json() for one in [asyncio.ensure_future(platform.get("/doctor")) for _ in range(2)]
    ]
    assert found == waited, "who waited for a round, with what it measured"
    levels = {one["check"]: one["level"] for one in found["checks"]}
    assert list(levels) == list(CHECKS)
    assert {levels[name] for name in ("server", "migrations", "listen", "invariants", "partitions")} == {"ok"}
    assert found["level"] == max(levels.values(), key=["ok", "warn", "fail"].index)
    details = {one["check"]: one["details"] for one in found["checks"]}
    assert all("query" not in row for row in details["horizon"])
    assert details["server"][0]["database"] == api.database.name
    document = problem(await platform.get("/doctor", params={"only": "worker"}), 422, "invalid-value")
    assert "did you mean 'workers'?" in document["detail"]


async def test_what_goes_on_is_the_platforms(api: Api, client: httpx.AsyncClient, make: StateMaker) -> None:
    problem(await client.get("/top"), 403, "forbidden")
    platform = await api.client(Role.PLATFORM_VIEWER, None)
    id = await make.running()
    await api.owner.execute(
        "select postmill.raise_incident('stale_workers', 'fleet', 'warning', 'one is gone', '{}')"
    )
    found = (await platform.get("/top", params={"sort": "running", "limit": 1000})).json()
    assert str(id) in {job["id"] for job in found["running"]}
    assert found["queues"][0]["running"] == max(queue["running"] for queue in found["queues"])
    assert "w1" in {worker["worker_id"] for worker in found["workers"]}
    assert [incident["title"] for incident in found["incidents"]] == ["one is gone"]
    problem(await platform.get("/top", params={"sort": "depth"}), 422, "invalid-request")
