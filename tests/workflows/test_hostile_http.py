"""Workflows that cannot be, over HTTP; and the same request several times at once."""

from __future__ import annotations

import asyncio
from typing import Any

from postmill.domain.access import Role
from tests.support.api import Api, opened, problem
from tests.support.databases import Database
from tests.workflows.refused import COUNT


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
