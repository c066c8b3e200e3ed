"""Seed 5's contract over HTTP: envelopes and idempotency keys, each in the scope of who asks."""

from __future__ import annotations

from typing import Any

import pytest

from postmill.domain.access import Role
from tests.support.api import Api, problem, unknown_id

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def enqueued(api: Api, tenant: str, **body: Any) -> str:
    client = await api.client(Role.OPERATOR, tenant)
    answer = await client.post("/jobs", json={"definition_key": "scan", **body})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def test_a_jobs_envelope(api: Api) -> None:
    await api.define("scan")
    id = await enqueued(api, "acme", payload={"week": "w", "api_key": "x"}, dedupe_key="k-envelope")
    client = await api.client(Role.OPERATOR, "acme")
    envelope = (await client.get(f"/jobs/{id}/envelope")).json()
    assert (envelope["job_id"], envelope["job_type"]) == (id, "scan")
    assert envelope["org_id"] == str(await api.tenant("acme"))
    assert envelope["payload"] == {"week": "w", "api_key": "[redacted]"}
    assert (envelope["idempotency_key"], envelope["actor_type"]) == ("k-envelope", "api_key")
    assert envelope["request_id"]
    assert "scheduled_for" not in envelope
    for other in (await api.client(Role.OPERATOR, "beta"), client):
        answer = await other.get(f"/jobs/{id if other is not client else unknown_id()}/envelope")
        problem(answer, 404, "not-found")
    problem(await (await api.client(Role.VIEWER, "acme")).get(f"/jobs/{id}/envelope"), 403, "forbidden")


async def test_a_strict_envelope_over_http(api: Api) -> None:
    """The request brings actor, request and correlation; the key is made. Only the default tenant is no organization."""
    await api.define("strict", strict_envelope=True)
    client = await api.client(Role.OPERATOR, "acme")
    body = {"definition_key": "strict", "payload": {"week": "w"}}
    first = await client.post("/jobs", json=body)
    assert first.status_code == 201, first.text
    again = await client.post("/jobs", json=body)
    assert again.json()["id"] == first.json()["id"]
    envelope = (await client.get(f"/jobs/{first.json()['id']}/envelope")).json()
    assert envelope["idempotency_key"].startswith(f"strict:{await api.tenant('acme')}::")
    platform = await api.client(Role.SUPER_ADMIN, None)
    assert "org_id" in problem(await platform.post("/jobs", json=body), 422, "invalid-payload")["detail"]


async def test_idempotency_keys_and_their_status(api: Api) -> None:
    await api.define("scan")
    jobs = {
        status: await enqueued(api, "keys", dedupe_key=f"k-{status}")
        for status in ("pending", "running", "succeeded", "failed", "dead")
    }
    ended = (
        "insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, result)"
        " values (%s, %s, %s, now(), 1, 1, 0, %s::text::jsonb)"
    )
    tenant = await api.tenant("keys")
    for status in ("running", "succeeded", "failed", "dead"):
        await api.owner.execute("delete from postmill.ready where id = %s", [jobs[status]])
    await api.owner.execute(
        "insert into postmill.running select %s, gen_random_uuid(), 1, 'default', %s, 100, 1, 1, 0, now()",
        [jobs["running"], tenant],
    )
    for status, result in (("succeeded", '{"a": 1}'), ("failed", None)):
        await api.owner.execute(ended, [jobs[status], tenant, status, result])
    await api.owner.execute(
        """insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, attempts,
                failed_at) values (%s, %s, 'default', %s, 100, 1, 1, 0, 'x', 1, now())""",
        [jobs["dead"], tenant, tenant],
    )
    client = await api.client(Role.VIEWER, "keys")
    found: dict[str, Any] = {}
    cursor: dict[str, str] = {}
    while True:
        page = (
            await client.get("/idempotency-keys", params={"limit": 2, "job_type": "scan", **cursor})
        ).json()
        found |= {row["key"].removeprefix("k-"): row for row in page["items"]}
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert {key: row["status"] for key, row in found.items()} == {status: status for status in jobs}
    assert {key: row["job_id"] for key, row in found.items()} == jobs
    assert found["succeeded"]["result_ref"] == f"jobs/{jobs['succeeded']}"
    assert found["dead"]["error_ref"] == f"jobs/{jobs['dead']}/attempts"
    assert (found["pending"]["mode"], found["pending"]["expires_at"]) == ("active", None)
    one = (await client.get("/idempotency-keys", params={"key": "k-dead"})).json()["items"]
    assert [row["job_id"] for row in one] == [jobs["dead"]]
    other = await api.client(Role.VIEWER, "beta")
    assert (await other.get("/idempotency-keys", params={"key": "k-dead"})).json()["items"] == []
    problem(await client.get("/idempotency-keys", params={"cursor": "nonsense"}), 422, "invalid-cursor")
