"""Jobs over HTTP, to the letter of the contract."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
import pytest_asyncio

from postmill.domain.access import Role
from tests.support.api import Api, problem, unknown_id

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCHEMA = {
    "type": "object",
    "properties": {"model": {"type": "string"}},
    "required": ["model"],
    "additionalProperties": False,
}
EXAMPLE = {
    "definition_key": "recompute-trained-tags",
    "payload": {"model": "siglip"},
    "priority": 100,
    "scheduled_for": "2026-02-16T10:30:00Z",
    "dedupe_key": "tenant:bcg:training:daily",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(api: Api) -> httpx.AsyncClient:
    await api.define("recompute-trained-tags", arg_schema=SCHEMA)
    await api.define("plain")
    return await api.client()


async def enqueue(client: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await client.post("/jobs", json={"definition_key": "plain", **body})
    assert answer.status_code in (200, 201), answer.text
    made: dict[str, Any] = answer.json()
    return made


async def test_the_contracts_own_example(api: Api, client: httpx.AsyncClient) -> None:
    answer = await client.post("/jobs", json=EXAMPLE)
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert set(made) == {"id", "tenant_id", "status", "definition_key", "queued_at"}
    assert made["tenant_id"] == str(api.tenants["acme"])
    assert (made["status"], made["definition_key"]) == ("queued", "recompute-trained-tags")
    assert datetime.fromisoformat(made["queued_at"]).tzinfo is not None
    assert answer.headers["location"] == f"/api/v1/jobs/{made['id']}"
    # Once more, under the same key: the first one, and nothing new.
    again = await client.post("/jobs", json=EXAMPLE)
    assert (again.status_code, again.json()) == (200, made)
    shown = (await client.get(f"/jobs/{made['id']}")).json()
    assert shown["payload"] == {"model": "siglip"}
    assert shown["dedupe_key"] == "tenant:bcg:training:daily"
    assert (shown["source"], shown["actor_type"], shown["attempt_count"]) == ("manual", "api_key", 0)


async def test_a_job_that_is_not_due_is_scheduled_until_it_is(api: Api, client: httpx.AsyncClient) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    made = await enqueue(client, scheduled_for=later.isoformat())
    assert made["status"] == "scheduled"
    assert (await client.get(f"/jobs/{made['id']}")).json()["status"] == "scheduled"
    listed = (await client.get("/jobs", params={"status": "scheduled"})).json()["items"]
    assert made["id"] in [job["id"] for job in listed]
    # Past its time it is queued, though no worker has moved it yet.
    await api.rows(
        "with t as (delete from postmill.scheduled where id = %s returning *) insert into postmill.scheduled"
        " select queue, lane, postmill.now() - interval '1 s', id, priority, attempt, run, lost from t"
        " returning id",
        made["id"],
    )
    assert (await client.get(f"/jobs/{made['id']}")).json()["status"] == "queued"
    queued = (await client.get("/jobs", params={"status": "queued"})).json()["items"]
    assert made["id"] in [job["id"] for job in queued]
    listed = (await client.get("/jobs", params={"status": "scheduled"})).json()["items"]
    assert made["id"] not in [job["id"] for job in listed]


async def test_payloads_are_checked_against_the_definition_as_it_is_now(
    api: Api, client: httpx.AsyncClient
) -> None:
    body = {"definition_key": "recompute-trained-tags", "payload": {"model": 7}}
    document = problem(await client.post("/jobs", json=body), 422, "invalid-payload")
    assert document["errors"][0]["at"] == "#/model"
    await api.define(
        "recompute-trained-tags", arg_schema={**SCHEMA, "properties": {"model": {"type": "integer"}}}
    )
    answer = await client.post("/jobs", json=body)
    assert answer.status_code == 201, answer.text
    await api.define("recompute-trained-tags", arg_schema=SCHEMA)
    problem(await client.post("/jobs", json=body), 422, "invalid-payload")


async def test_refusals(api: Api, client: httpx.AsyncClient) -> None:
    document = problem(
        await client.post("/jobs", json={"definition_key": "plane"}), 422, "unknown-definition"
    )
    assert "plain" in document["detail"]
    problem(await client.post("/jobs", json={"definition_key": "plain", "colour": 1}), 422, "invalid-request")
    problem(
        await client.post("/jobs", json={"definition_key": "plain", "payload": []}), 422, "invalid-request"
    )
    problem(await client.post("/jobs", json=[]), 422, "invalid-request")
    other = str(await api.tenant("globex"))
    body = {"definition_key": "plain", "tenant_id": other}
    problem(await client.post("/jobs", json=body), 404, "not-found")
    problem(await client.post("/jobs", json=body | {"tenant_id": unknown_id()}), 404, "not-found")
    body = {"definition_key": "plain", "project_id": unknown_id()}
    problem(await client.post("/jobs", json=body), 404, "not-found")
    await api.rows(
        "update postmill.job_definition set is_active = false, version = version + 1 where key = 'plain' returning 1"
    )
    problem(await client.post("/jobs", json={"definition_key": "plain"}), 409, "inactive-definition")
    await api.rows(
        "update postmill.job_definition set is_active = true, version = version + 1 where key = 'plain' returning 1"
    )


async def test_the_platform_names_a_tenant_or_takes_the_default(api: Api, client: httpx.AsyncClient) -> None:
    platform = await api.client(Role.PLATFORM_OPERATOR, None)
    assert UUID((await enqueue(platform))["tenant_id"]) == UUID(int=1)
    other = str(await api.tenant("globex"))
    assert (await enqueue(platform, tenant_id=other))["tenant_id"] == other
    await api.rows("update postmill.tenant set status = 'suspended' where slug = 'globex' returning 1")
    answer = await platform.post("/jobs", json={"definition_key": "plain", "tenant_id": other})
    problem(answer, 409, "tenant-suspended")
    await api.rows("update postmill.tenant set status = 'active' where slug = 'globex' returning 1")


async def test_a_request_is_found_again_in_its_job(client: httpx.AsyncClient) -> None:
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    headers = {"X-Request-ID": "req-1", "X-Correlation-ID": "order-4711", "traceparent": trace}
    answer = await client.post("/jobs", json={"definition_key": "plain"}, headers=headers)
    assert answer.headers["x-request-id"] == "req-1"
    job = (await client.get(answer.headers["location"].removeprefix("/api/v1"))).json()
    assert (job["request_id"], job["correlation_id"], job["traceparent"]) == ("req-1", "order-4711", trace)
    # Without them the request's own id is what everything is found by; a malformed trace is none.
    answer = await client.post("/jobs", json={"definition_key": "plain"}, headers={"traceparent": "00-x"})
    job = (await client.get(f"/jobs/{answer.json()['id']}")).json()
    assert job["request_id"] == job["correlation_id"] == answer.headers["x-request-id"]
    assert job["traceparent"] is None


async def test_payloads_are_shown_to_whoever_may_see_them(api: Api, client: httpx.AsyncClient) -> None:
    made = await enqueue(client, payload={"a": [1, None], "password": "hunter22"})
    assert (await client.get(f"/jobs/{made['id']}")).json()["payload"] == {
        "a": [1, None],
        "password": "[redacted]",
    }
    viewer = await api.client(Role.VIEWER)
    shown = (await viewer.get(f"/jobs/{made['id']}")).json()
    assert shown["payload"] is None
    assert shown["result"] is None


async def test_another_tenants_job_is_not_there(api: Api, client: httpx.AsyncClient) -> None:
    made = await enqueue(client)
    other = await api.client(Role.TENANT_ADMIN, "initech")
    for path in (made["id"], unknown_id(), "no-uuid"):
        for rest in ("", "/attempts", "/why"):
            problem(await other.get(f"/jobs/{path}{rest}"), 404, "not-found")
        for verb in ("cancel", "retry"):
            problem(await other.post(f"/jobs/{path}/{verb}"), 404, "not-found")
        problem(await other.patch(f"/jobs/{path}/priority", json={"priority": 1}), 404, "not-found")
    assert (await other.get("/jobs")).json() == {"items": [], "next": None}
    assert (await client.get(f"/jobs/{made['id']}")).json()["status"] == "queued"
