"""Seed 3's definition endpoints to the letter, and what was added: one, versions, drift; who may, and what a tenant sees."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from postmill.domain.access import Role
from tests.domain.test_definition import SEED
from tests.support.api import Api, problem, unknown_id

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = "/admin/jobs/definitions"


async def admin(api: Api) -> httpx.AsyncClient:
    return await api.client(Role.SUPER_ADMIN, None)


async def made(api: Api, key: str, **fields: Any) -> dict[str, Any]:
    answer = await (await admin(api)).post(PATH, json={"key": key, **fields})
    assert answer.status_code == 201, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def test_the_seeds_create_payload(api: Api) -> None:
    client = await admin(api)
    answer = await client.post(PATH, json=SEED)
    assert answer.status_code == 201, answer.text
    created = answer.json()
    assert {name: created[name] for name in SEED} == SEED
    assert (created["kind"], created["version"], created["drift"]) == ("function", 1, ["unserved"])
    assert (await client.get(f"{PATH}/{created['id']}")).json() == created
    assert SEED["key"] in [one["key"] for one in (await client.get(PATH)).json()["items"]]
    problem(await client.post(PATH, json=SEED), 409, "definition-conflict")


async def test_patch_and_its_versions(api: Api) -> None:
    client = await admin(api)
    one = await made(api, "patched", argv_template=["zoltag", "{tenant_id}"])
    url = f"{PATH}/{one['id']}"
    changed = (await client.patch(url, json={"timeout_seconds": 60, "is_active": False, "version": 1})).json()
    assert (changed["timeout_seconds"], changed["is_active"], changed["version"]) == (60, False, 2)
    problem(await client.patch(url, json={"priority": 1, "version": 1}), 409, "definition-conflict")
    assert (await client.patch(url, json={"timeout_seconds": None})).json()["timeout_seconds"] is None
    versions = (await client.get(f"{url}/versions", params={"limit": 2})).json()
    assert [v["version"] for v in versions["items"]] == [3, 2]
    rest = (await client.get(f"{url}/versions", params={"limit": 2, "cursor": versions["next"]})).json()
    assert ([v["version"] for v in rest["items"]], rest["next"]) == ([1], None)
    assert rest["items"][0]["via"] == "api"
    problem(await client.patch(f"{PATH}/{unknown_id()}", json={}), 404, "not-found")


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"argv_template": ["{tenant_id}"]}, "argv_template[0]"),
        ({"argv_template": ["x", "{payload.nothing}"]}, "argv_template[1]"),
        ({"arg_schema": {"type": "nonsense"}}, "arg_schema"),
        ({"arg_schema": {"$ref": "https://evil.example"}}, "arg_schema"),
        ({"kind": "command"}, "argv_template"),
        ({"queue": "a b"}, "queue"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"env_allow": ["LD_PRELOAD"]}, "env_allow"),
        ({"retry": {"kind": "nonsense"}}, "retry"),
    ],
)
async def test_a_bad_field_is_named(api: Api, fields: dict[str, Any], at: str) -> None:
    answer = await (await admin(api)).post(PATH, json={"key": "bad", **fields})
    assert [error["at"] for error in problem(answer, 422, "invalid-definition")["errors"]] == [at]


async def test_unknown_fields_and_parameters_are_refused(api: Api) -> None:
    client = await admin(api)
    problem(await client.post(PATH, json={"key": "x", "comand": 1}), 422, "invalid-request")
    problem(await client.get(PATH, params={"knd": "http"}), 422, "unknown-parameter")


async def test_pages_and_filters(api: Api) -> None:
    for n in range(3):
        await made(api, f"paged-{n}", kind="http", queue="paged")
    client = await admin(api)
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (
            await client.get(PATH, params={"queue": "paged", "kind": "http", "limit": 2, **cursor})
        ).json()
        found += [one["key"] for one in page["items"]]
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert found == ["paged-0", "paged-1", "paged-2"]
    assert (await client.get(PATH, params={"queue": "paged", "is_active": False})).json()["items"] == []
    conflict = await client.post(PATH, json={"key": "python", "queue": "paged"})
    assert "queue 'paged' serves 'paged-0'" in problem(conflict, 409, "definition-conflict")["detail"]


@pytest.mark.parametrize(
    ("role", "tenant"), [(Role.TENANT_ADMIN, "acme"), (Role.PLATFORM_OPERATOR, None), (Role.VIEWER, "acme")]
)
async def test_only_a_super_admin_writes(api: Api, role: Role, tenant: str | None) -> None:
    key = f"theirs-{role}"
    one = await made(api, key, argv_template=["zoltag", "--secret-flag"], env_allow=["TOKEN_FILE"])
    client = await api.client(role, tenant)
    problem(await client.post(PATH, json={"key": "mine"}), 403, "forbidden")
    problem(await client.patch(f"{PATH}/{one['id']}", json={"is_active": False}), 403, "forbidden")
    seen = (await client.get(f"{PATH}/{one['id']}")).json()
    assert seen["key"] == key
    assert (seen["argv_template"] is None, seen["env_allow"] == []) == (
        tenant is not None,
        tenant is not None,
    )
    versions = (await client.get(f"{PATH}/{one['id']}/versions")).json()["items"]
    assert len(versions) == (tenant is None)


async def test_writes_are_audited(api: Api) -> None:
    one = await made(api, "audited")
    await (await admin(api)).patch(f"{PATH}/{one['id']}", json={"priority": 7})
    rows = await api.rows(
        "select action, via, role, after ->> 'priority' from postmill.audit_log where target = 'audited' order by id"
    )
    assert rows == [
        ("definitions.create", "api", "super_admin", "100"),
        ("definitions.edit", "api", "super_admin", "7"),
    ]


async def test_a_job_of_a_definition_is_checked_before_the_insert(api: Api) -> None:
    """Seed 3, security: validate payload against command JSON schema before enqueue."""
    schema = SEED["arg_schema"]
    await made(api, "checked", argv_template=["zoltag", "{payload.provider_id}"], arg_schema=schema)
    client = await api.client(Role.OPERATOR, "acme")
    for payload, at in (({}, "#"), ({"provider_id": "x"}, "#/provider_id")):
        answer = await client.post("/jobs", json={"definition_key": "checked", "payload": payload})
        assert problem(answer, 422, "invalid-payload")["errors"][0]["at"] == at
    assert await api.rows("select count(*) from postmill.job where job_type = 'checked'") == [(0,)]
    fine = {"provider_id": "6f46a1d8-6e2b-4ecf-8b46-9ec2e6a37f09"}
    answer = await client.post("/jobs", json={"definition_key": "checked", "payload": fine})
    assert answer.status_code == 201, answer.text
