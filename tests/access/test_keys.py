"""API keys and tenants over HTTP: shown once, stored as a hash, never above one's own role, refused once revoked."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest
import pytest_asyncio

from postmill.bind import adrive
from postmill.domain.access import Role
from postmill.operate.keys import create_key
from tests.support.api import Api, opened, problem, unknown_id
from tests.support.databases import Database

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(world_database: Database) -> AsyncIterator[Api]:
    async with opened(world_database) as made:
        await made.tenant("acme")
        await made.tenant("other")
        yield made


def with_key(api: Api, key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def test_a_key_is_shown_once_and_kept_as_its_hash(api: Api) -> None:
    admin = await api.client()
    answer = await admin.post("/keys", json={"name": "import", "role": "operator"})
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    made = answer.json()
    assert made["key"].startswith("pm_")
    assert len(made["key"]) == 3 + 43  # 256 bits
    assert made["key"].startswith(made["prefix"])
    assert made["tenant_id"] == str(api.tenants["acme"])
    [(hash, prefix, by)] = await api.rows(
        "select hash, prefix, created_by from postmill.api_key where id = %s", made["id"]
    )
    assert hash == hashlib.sha256(made["key"].encode()).digest()
    assert (prefix, by) == (made["prefix"], str((await admin.get("/session")).json()["actor_id"]))
    listed = (await admin.get("/keys")).json()["items"]
    assert made["key"] not in str(listed)
    assert made["id"] in [key["id"] for key in listed]
    [row] = await api.rows(
        "select after, before from postmill.audit_log where action = 'keys.create' and target = %s",
        made["id"],
    )
    assert made["key"] not in str(row)
    used = await admin.get("/session", headers=with_key(api, made["key"]))
    assert used.json()["role"] == "operator"
    [(seen,)] = await api.rows("select last_used_at from postmill.api_key where id = %s", made["id"])
    assert seen is not None


async def test_a_revoked_key_is_refused_by_the_next_request(api: Api) -> None:
    admin = await api.client()
    made = (await admin.post("/keys", json={"name": "short", "role": "viewer"})).json()
    key = with_key(api, made["key"])
    assert (await admin.get("/jobs", headers=key)).status_code == 200
    ended = await admin.delete(f"/keys/{made['id']}", params={"reason": "left in a repository"})
    assert ended.json() == {"id": made["id"], "status": "revoked"}
    problem(await admin.get("/jobs", headers=key), 401, "unauthorized")
    assert (await admin.delete(f"/keys/{made['id']}")).json()["status"] == "already"
    [(reason, actor)] = await api.rows(
        "select reason, actor_type from postmill.audit_log where action = 'keys.revoke' and target = %s",
        made["id"],
    )
    assert (reason, actor) == ("left in a repository", "api_key")


async def test_a_key_revoked_elsewhere_is_refused_though_it_is_remembered(api: Api) -> None:
    """What another process or the command line revokes is not hidden by the memory of found keys."""
    made = await adrive(api.owner, create_key("elsewhere", Role.VIEWER, tenant="acme"))
    viewer = await api.client()
    key = with_key(api, made.key)
    assert (await viewer.get("/jobs", headers=key)).status_code == 200
    await api.owner.execute("update postmill.api_key set revoked_at = now() where id = %s", [made.id])
    problem(await viewer.get("/jobs", headers=key), 401, "unauthorized")
    problem(await viewer.get("/jobs/summary", headers=key), 401, "unauthorized")


async def test_an_end_is_an_end(api: Api) -> None:
    admin = await api.client()
    past = {"name": "x", "role": "viewer", "expires_at": "2020-01-01T00:00:00Z"}
    problem(await admin.post("/keys", json=past), 422, "invalid-value")
    naive = {"name": "x", "role": "viewer", "expires_at": "2031-01-01T00:00:00"}
    problem(await admin.post("/keys", json=naive), 422, "invalid-request")
    soon = datetime.now(UTC) + timedelta(hours=1)
    made = (
        await admin.post("/keys", json={"name": "x", "role": "viewer", "expires_at": soon.isoformat()})
    ).json()
    key = with_key(api, made["key"])
    assert (await admin.get("/jobs", headers=key)).status_code == 200
    await api.owner.execute(
        "update postmill.api_key set expires_at = now() - interval '1 s' where id = %s", [made["id"]]
    )
    problem(await admin.get("/jobs", headers=key), 401, "unauthorized")
    assert made["id"] not in [
        key["id"] for key in (await admin.get("/keys", params={"live": True})).json()["items"]
    ]


@pytest.mark.parametrize(
    "role", [Role.PLATFORM_VIEWER, Role.PLATFORM_OPERATOR, Role.SUPER_ADMIN, Role.WORKER]
)
async def test_nobody_hands_out_more_than_he_may(api: Api, role: Role) -> None:
    admin = await api.client()
    refused = problem(await admin.post("/keys", json={"name": "up", "role": role}), 403, "forbidden")
    assert "may not hand out" in refused["detail"]
    rows = await api.rows(
        "select actor_id, tenant_id, via from postmill.audit_log where result = 'denied' and action = 'keys.create'"
    )
    assert (str((await admin.get("/session")).json()["actor_id"]), api.tenants["acme"], "api") in rows
    assert await api.rows("select from postmill.api_key where name = 'up'") == []


async def test_and_nothing_in_another_tenant(api: Api) -> None:
    admin = await api.client()
    for other in ("other", str(api.tenants["other"]), "no-such-tenant", unknown_id()):
        problem(
            await admin.post("/keys", json={"name": "over", "role": "viewer", "tenant": other}),
            404,
            "not-found",
        )
    theirs = await adrive(api.owner, create_key("theirs", Role.VIEWER, tenant="other"))
    problem(await admin.delete(f"/keys/{theirs.id}"), 404, "not-found")
    platform = await adrive(api.owner, create_key("platform", Role.AUDITOR))
    problem(await admin.delete(f"/keys/{platform.id}"), 404, "not-found")
    listed = {key["id"] for key in (await admin.get("/keys", params={"limit": 200})).json()["items"]}
    assert not listed & {str(theirs.id), str(platform.id)}
    assert await api.rows("select from postmill.api_key where name = 'over'") == []


async def test_a_super_admin_may_all_of_it(api: Api) -> None:
    root = await api.client(Role.SUPER_ADMIN, None)
    for role, tenant in (
        ("super_admin", None),
        ("worker", None),
        ("worker", "other"),
        ("viewer", "other"),
        ("auditor", None),
    ):
        made = await root.post("/keys", json={"name": f"{role} {tenant}", "role": role, "tenant": tenant})
        assert made.status_code == 201, made.text
    for role, tenant in (("viewer", None), ("super_admin", "acme"), ("platform_viewer", "acme")):
        problem(
            await root.post("/keys", json={"name": "x", "role": role, "tenant": tenant}),
            422,
            "invalid-value",
        )


async def test_tenants_are_the_platforms(api: Api) -> None:
    root = await api.client(Role.SUPER_ADMIN, None)
    body = {
        "slug": "bakery",
        "name": "Ada's bakery",
        "timezone": "Europe/Amsterdam",
        "weight": 3,
        "max_running": 20,
    }
    made = (await root.post("/tenants", json=body)).json()
    assert {key: made[key] for key in body} == body
    problem(await root.post("/tenants", json=body), 409, "already-there")
    problem(await root.post("/tenants", json={"slug": "x", "timezone": "Mars/Olympus"}), 422, "invalid-value")
    problem(await root.post("/tenants", json={"slug": "Not A Slug"}), 422, "invalid-request")
    problem(await root.post("/tenants", json={"slug": "x", "color": "red"}), 422, "invalid-request")
    changed = await root.patch(
        "/tenants/bakery", json={"max_running": None, "retention_seconds": 86400, "reason": "asked for"}
    )
    assert (changed.json()["max_running"], changed.json()["retention_seconds"], changed.json()["weight"]) == (
        None,
        86400,
        3,
    )
    [(before, after, reason)] = await api.rows(
        "select before ->> 'max_running', after ->> 'max_running', reason from postmill.audit_log"
        " where action = 'tenants.change' and tenant_id = %s", made["id"]
    )  # fmt: skip
    assert (before, after, reason) == ("20", None, "asked for")
    pages: list[str] = []
    cursor = None
    while True:
        page = (
            await root.get("/tenants", params={"limit": 1} | ({"cursor": cursor} if cursor else {}))
        ).json()
        pages += [tenant["slug"] for tenant in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert pages == sorted(pages)
    assert {"acme", "bakery", "default", "other"} <= set(pages)
    problem(await root.get("/tenants", params={"cursor": "bad"}), 422, "invalid-cursor")
    project = await root.post("/tenants/bakery/projects", json={"slug": "cakes"})
    assert project.status_code == 201
    problem(await root.post("/tenants/bakery/projects", json={"slug": "cakes"}), 409, "already-there")
    assert [p["slug"] for p in (await root.get("/tenants/bakery/projects")).json()["items"]] == ["cakes"]


async def test_a_suspended_tenant_is_shut_out_at_once(api: Api) -> None:
    await api.tenant("unpaid")
    member = await api.client(Role.OPERATOR, "unpaid")
    assert (await member.get("/jobs")).status_code == 200
    root = await api.client(Role.SUPER_ADMIN, None)
    await root.patch("/tenants/unpaid", json={"status": "suspended"})
    problem(await member.get("/jobs"), 403, "tenant-suspended")
    denied = "select result, target from postmill.audit_log where action = 'requests.tenant-suspended'"
    assert await api.rows(denied) == [("denied", "GET /api/v1/jobs")]
    await root.patch("/tenants/unpaid", json={"status": "active"})
    assert (await member.get("/jobs")).status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "bearer pm_" + "x" * 43,
        "Bearer " + "x" * 5000,
        "Token pm_x",
        "Bearer \x80\xff",
    ],
)
async def test_what_opens_nothing(api: Api, header: str) -> None:
    client = httpx.AsyncClient(transport=httpx.ASGITransport(api.app), base_url="http://api.test/api/v1")
    async with client:
        problem(
            await client.get("/jobs", headers={"Authorization": header.encode("latin-1")}),
            401,
            "unauthorized",
        )
        answer = await client.get("/jobs")
        assert answer.headers["www-authenticate"] == "Bearer"
