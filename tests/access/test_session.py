"""Logins of the console: one link, one login; a cookie that scripts do not see; other sites' pages do nothing with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from postmill.api.cookies import COOKIE
from postmill.bind import adrive
from postmill.domain.access import Role
from postmill.domain.secret import hashed
from postmill.operate.keys import NewLink, create_key, create_link, revoke_key
from tests.support.api import BASE, Api, opened, problem
from tests.support.databases import Database

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(world_database: Database) -> AsyncIterator[Api]:
    async with opened(world_database) as made:
        await made.tenant("acme")
        yield made


def browser(api: Api, base: str = BASE, **headers: str) -> httpx.AsyncClient:
    """A client with a jar for cookies."""
    made = httpx.AsyncClient(transport=httpx.ASGITransport(api.app), base_url=base, headers=headers)
    api.clients.append(made)
    return made


async def link(api: Api, role: Role = Role.TENANT_ADMIN, tenant: str | None = "acme", **more: Any) -> NewLink:
    return await adrive(api.owner, create_link("ada", role, tenant=tenant, **more))


async def logged_in(api: Api, **headers: str) -> httpx.AsyncClient:
    client = browser(api, **headers)
    answer = await client.get(f"/login?token={(await link(api)).token}")
    assert answer.status_code == 303, answer.text
    return client


async def test_a_link_opens_one_login(api: Api) -> None:
    made = await link(api)
    first, second = browser(api), browser(api)
    answer = await first.get(f"/login?token={made.token}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert (answer.headers["cache-control"], answer.headers["referrer-policy"]) == ("no-store", "no-referrer")
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "Secure" not in cookie
    problem(await second.get(f"/login?token={made.token}"), 401, "unauthorized")
    who = (await first.get("/api/v1/session")).json()
    assert (who["actor_type"], who["actor_id"], who["role"]) == ("user", "ada", "tenant_admin")
    assert who["tenant_id"] == str(api.tenants["acme"])
    assert "jobs.cancel" in who["may"]
    assert who["expires_at"] is not None
    rows = await api.rows(
        "select via, actor_id from postmill.audit_log where action = 'logins.open' and actor_id = 'ada'"
    )
    assert ("console", "ada") in rows
    value = first.cookies[COOKIE]
    [(hash,)] = await api.rows("select hash from postmill.console_session order by created_at desc limit 1")
    assert hash == hashed(value)


async def test_a_link_leads_to_where_one_belongs(api: Api) -> None:
    client = await logged_in(api)
    assert (await client.get("/")).headers["location"] == "/t/acme"
    problem(await browser(api).get("/"), 401, "unauthorized")
    platform = await (await api.client(Role.SUPER_ADMIN, None)).get(f"{BASE}/")
    assert platform.headers["location"] == "/ops"


async def test_looking_at_a_link_does_not_use_it_up(api: Api) -> None:
    made = await link(api)
    client = browser(api)
    assert (await client.head(f"/login?token={made.token}")).status_code == 401
    assert (await client.get(f"/login?token={made.token}")).status_code == 303


async def test_a_link_that_waited_too_long(api: Api) -> None:
    made = await link(api, seconds=0.0)
    problem(await browser(api).get(f"/login?token={made.token}"), 401, "unauthorized")
    problem(await browser(api).get("/login?token=" + "x" * 43), 401, "unauthorized")
    assert 'name="token"' in (await browser(api).get("/login")).text


async def test_by_a_program_and_over_https(api: Api) -> None:
    client = browser(api, "https://api.test")
    answer = await client.post("/api/v1/session", json={"token": (await link(api)).token})
    assert answer.status_code == 201
    assert "Secure" in answer.headers["set-cookie"]
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json()["csrf_token"]


async def test_a_login_by_a_key_ends_with_the_key(api: Api) -> None:
    made = await adrive(api.owner, create_key("console", Role.OPERATOR, tenant="acme"))
    client = browser(api)
    answer = await client.post("/api/v1/session", json={"token": made.key})
    assert (answer.status_code, answer.json()["role"]) == (201, "operator")
    assert (await client.get("/api/v1/jobs")).status_code == 200
    await adrive(api.owner, revoke_key(made.id))
    problem(await client.get("/api/v1/jobs"), 401, "unauthorized")
    problem(await browser(api).post("/api/v1/session", json={"token": made.key}), 401, "unauthorized")


async def test_logging_out(api: Api) -> None:
    client = await logged_in(api, **{"Sec-Fetch-Site": "same-origin"})
    cookie = client.cookies[COOKIE]
    assert (await client.delete("/api/v1/session")).status_code == 204
    assert COOKIE not in client.cookies
    client.cookies.set(COOKIE, cookie, domain="api.test")
    problem(await client.get("/api/v1/session"), 401, "unauthorized")


async def test_a_login_runs_out_and_can_be_ended_by_others(api: Api) -> None:
    client = await logged_in(api)
    admin = await api.client()
    [login] = [
        one
        for one in (await admin.get("/logins")).json()["items"]
        if one["id"] == await login_of(api, client)
    ]
    assert login["actor_id"] == "ada"
    assert (await admin.delete(f"/logins/{login['id']}")).json()["status"] == "ended"
    problem(await client.get("/api/v1/jobs"), 401, "unauthorized")
    assert (await admin.delete(f"/logins/{login['id']}")).json()["status"] == "already"
    client = await logged_in(api)
    await api.owner.execute(
        "update postmill.console_session set expires_at = now() where id = %s", [await login_of(api, client)]
    )
    problem(await client.get("/api/v1/jobs"), 401, "unauthorized")


async def login_of(api: Api, client: httpx.AsyncClient) -> str:
    [(id,)] = await api.rows(
        "select id from postmill.console_session where hash = %s", hashed(client.cookies[COOKIE])
    )
    return str(id)


FOREIGN = [
    {},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
    {"Origin": "https://evil.test"},
    {"Origin": "null"},
    {"Origin": "http://api.test.evil.test"},
    {"Origin": "https://api.test"},  # another scheme is another origin
    {"Origin": "http://api.test:81"},
    {"X-CSRF-Token": "0" * 64},
    {"X-CSRF-Token": "ü"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
async def test_another_sites_page_changes_nothing(api: Api, headers: dict[str, str]) -> None:
    client = await logged_in(api)
    sent = {name: value.encode() for name, value in headers.items()}
    refused = await client.post("/api/v1/keys", json={"name": "csrf", "role": "viewer"}, headers=sent)
    problem(refused, 403, "cross-site")
    assert await api.rows("select from postmill.api_key where name = 'csrf'") == []
    [(via, result)] = await api.rows(
        "select distinct via, result from postmill.audit_log where action = 'requests.cross-site' and actor_id = 'ada'"
    )
    assert (via, result) == ("console", "denied")
    assert (await client.get("/api/v1/jobs", headers=sent)).status_code == 200


async def test_our_own_pages_and_programs_with_the_token_do(api: Api) -> None:
    client = await logged_in(api)
    token = (await client.get("/api/v1/session")).json()["csrf_token"]
    for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Origin": BASE}, {"X-CSRF-Token": token}):
        made = await client.post("/api/v1/keys", json={"name": "own", "role": "viewer"}, headers=headers)
        assert made.status_code == 201, (headers, made.text)
    rows = await api.rows(
        "select distinct via, actor_id from postmill.audit_log where action = 'keys.create' and via = 'console'"
    )
    assert rows == [("console", "ada")]
    other = await logged_in(api)
    problem(
        await other.post(
            "/api/v1/keys", json={"name": "x", "role": "viewer"}, headers={"X-CSRF-Token": token}
        ),
        403,
        "cross-site",
    )


async def test_a_key_beside_a_cookie_is_what_counts(api: Api) -> None:
    """A bearer is not sent by a browser by itself: no token is asked for, and its role is what it may."""
    client = await logged_in(api)
    viewer = await api.key(Role.VIEWER, "acme")
    bearer = {"Authorization": f"Bearer {viewer}"}
    assert (await client.get("/api/v1/session", headers=bearer)).json()["role"] == "viewer"
    problem(
        await client.post("/api/v1/keys", json={"name": "x", "role": "viewer"}, headers=bearer),
        403,
        "forbidden",
    )


async def test_below_a_path_of_a_proxy(world_database: Database) -> None:
    async with opened(world_database, root_path="/mill", public_url="https://jobs.example.org/mill") as below:
        made = await adrive(below.owner, create_link("bob", Role.SUPER_ADMIN))
        client = browser(below)
        answer = await client.get(f"/mill/login?token={made.token}")
        assert (answer.status_code, answer.headers["location"]) == (303, "/mill/")
        assert "Path=/mill" in answer.headers["set-cookie"]
        assert (await client.get("/mill/")).headers["location"] == "/mill/ops"
        assert (await client.get("/mill/api/v1/session")).json()["actor_id"] == "bob"
        there = {"Origin": "https://jobs.example.org"}
        assert (
            await client.post("/mill/api/v1/tenants", json={"slug": "below"}, headers=there)
        ).status_code == 201
        assert (await browser(below).get("/mill/healthz")).json() == {"alive": True}
