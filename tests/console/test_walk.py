"""Every page and act of the console × every role × two tenants, from the application's own table of routes.

What a route does is said by its action; what a role may, by the table of permissions. All texts of the world are hostile:
so each page that is looked at must also be inert (case 97).
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from postmill.api.cookies import COOKIE, csrf_token
from postmill.domain.access import PERMISSIONS, PLATFORM_ROLES, TENANT_ROLES, Role
from tests.access.world import Tenant
from tests.console.doors import ACTS, DOORS, MORE, PAGES, SHARED, Door
from tests.console.harness import HTML, Console, anybody
from tests.console.hostile_world import OTHER, OWN, World, hostile_world
from tests.console.reading import faults
from tests.support.api import BASE
from tests.support.databases import Database

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(console_database: Database) -> AsyncIterator[World]:
    async with hostile_world(console_database) as made:
        yield made


async def test_nobody_sees_anything(world: World) -> None:
    client = anybody(world.console.api)
    for n, door in enumerate(DOORS):
        path = world.path(door, OTHER, world.other)
        for method, variant in [(door.method, path)] if n % 9 else ways(door, path):
            answer = await client.request(method, variant, headers={"X-Original-URL": "/login"}, data={})
            where = (method, variant, answer.status_code)
            if method in ("GET", "HEAD") and answer.status_code != 401:
                assert answer.status_code == 303, where
                assert answer.headers["location"].startswith("/login"), where
            else:
                assert answer.status_code == 401, where
            told = [trace for trace in world.other.traces if trace in answer.text and trace not in variant]
            assert told == [], where
        if door in PAGES:
            answer = await client.get(path, params={"_part": "list"})
            assert answer.status_code == 401, path
            assert "<form" not in answer.text


def ways(door: Door, path: str) -> Iterator[tuple[str, str]]:
    """Case 99: how a path can be written, too."""
    yield door.method, path
    yield "HEAD", path
    yield door.method, path + "/"
    yield door.method, "/" + path
    yield door.method, path.replace("/", "//", 2)
    yield door.method, "/static/../.." + path
    yield door.method, "/login/%2e%2e" + path
    yield door.method, path + ";/static/x"
    yield door.method, path + "%00/login"


@pytest.mark.parametrize("role", Role)
async def test_each_role_sees_and_does_what_it_may(world: World, role: Role) -> None:
    """With its own things, with Bob's in every path, and in Bob's scope."""
    own, other = world.own, world.other
    before = await world.picture(other)
    homes: list[str | None] = (
        [None] if role in PLATFORM_ROLES else [OWN] if role in TENANT_ROLES else [None, OWN]
    )
    for home in homes:
        client = await entered(world.console, role, home)
        denied = set()
        for door in PAGES:
            answer = await client.get(world.path(door, OWN, own))
            where = (role, home, str(door), answer.status_code)
            assert wanted(door, role, home, answer), (*where, answer.text[-600:])
            check(answer, where)
            if home is not None or not door.ops:
                untold(answer, other, where)
            denied |= {door.denied(role)} if answer.status_code == 403 else set()
        for door in DOORS:
            if home is None and door in ACTS and door.ops:
                if door.denied(role):
                    answer = await client.post(world.path(door, OWN, own), data=fields(client, own))
                    assert answer.status_code == (404 if role is Role.WORKER else 403), (role, str(door))
                    denied.add(door.denied(role))
            else:
                denied |= await foreign(world, client, door, role, home)
        if role is not Role.WORKER:
            await written(world, client, role, home, denied - {None})
    assert await world.picture(other) == before


async def foreign(
    world: World, client: httpx.AsyncClient, door: Door, role: Role, home: str | None
) -> set[Any]:
    """A door with Bob's things in Ada's scope, and in Bob's own; what was denied."""
    denied = set()
    for slug in (OWN, OTHER):
        if slug == OTHER and (door.ops or home is None):
            continue  # whoever has the platform may be in Bob's scope
        path = world.path(door, slug, world.other)
        where = (role, home, door.method, path)
        if door.method == "GET":
            answer = await client.get(path)
        else:
            answer = await client.post(path, data=fields(client, world.other))
        assert answer.status_code < 500, (*where, answer.text[-600:])
        check(answer, where)
        outside = role is Role.WORKER or (home is not None and (door.ops or slug == OTHER))
        if outside:
            assert answer.status_code == 404, (*where, answer.status_code)
        elif door.denied(role) and answer.status_code == 403:
            denied.add(door.denied(role))
        elif door.denied(role):
            assert (answer.status_code, door.path in MORE) == (404, True), (*where, answer.status_code)
        elif not door.ops and set(door.things) - SHARED:
            assert answer.status_code in (404, 422), (*where, answer.status_code)
        if home is not None or not door.ops:
            untold(answer, world.other, where, path)
    return denied


def wanted(door: Door, role: Role, home: str | None, answer: httpx.Response) -> bool:
    """Whether a page with one's own things answered as it should."""
    if role is Role.WORKER or (home is not None and door.ops):
        return answer.status_code == 404
    return answer.status_code == 403 if door.denied(role) else answer.status_code in (200, 303)


def check(answer: httpx.Response, where: object) -> None:
    """Nothing of it runs, whatever it is."""
    kind = answer.headers.get("content-type", "")
    assert answer.headers.get("x-content-type-options") == "nosniff", where
    if kind.startswith("text/html"):
        assert "trusted-types console" in answer.headers["content-security-policy"], where
        assert faults(answer.text) == [], where
    elif not kind.startswith(("application/json", "application/problem+json", "text/plain")):
        assert not answer.content or answer.headers["content-disposition"].startswith("attachment"), where


def untold(answer: httpx.Response, other: Tenant, where: object, path: str = "") -> None:
    """Nothing of Bob's is in it, but what was asked with: the path, fields of acts, denied questions in the audit log."""
    asked = {str(other.id), other.group, *map(str, (other.ids[name] for name in SENT))}
    text = re.sub(r"(GET|POST)( |\+|%20)\S+", "", answer.text)
    told = [trace for trace in other.traces if trace in text and trace not in path and trace not in asked]
    assert told == [], (where, told, text[max(0, text.find(told[0]) - 300) :][:400])


SENT = ("dead", "queued")
"""Of whose ids are sent in forms."""


def fields(client: httpx.AsyncClient, tenant: Tenant) -> dict[str, Any]:
    """Whatever forms have fields for, of a tenant's things."""
    id = str(tenant.ids["dead"])
    cookie = client.cookies.get(COOKIE)
    return {
        "csrf": "" if cookie is None else csrf_token(cookie), "id": [id, str(tenant.ids["queued"])], "act": "cancel",
        "one": f"cancel:{tenant.ids['queued']}", "reason": "since", "confirm": "1", "name": "view", "query": f"id:{id}",
        "q": f"id:{id}", "format": "csv", "limit": "5", "for": "1h", "text": "note", "queue": "world", "which": str(tenant.id),
        "tenant": str(tenant.id), "error": tenant.group, "count": "1", "payload": "{}", "priority": "1", "label": "x",
        "role": "viewer", "definition": "world", "step": "start", "since": "2026-01-01T00:00", "until": "2026-01-02T00:00",
    }  # fmt: skip


async def entered(console: Console, role: Role, home: str | None) -> httpx.AsyncClient:
    """A browser of this role; a worker has only a key."""
    if role is not Role.WORKER:
        return await console.browser(role, home)
    client = anybody(console.api)
    client.headers["Authorization"] = f"Bearer {await console.api.key(role, home)}"
    return client


async def written(
    world: World, client: httpx.AsyncClient, role: Role, home: str | None, denied: set[Any]
) -> None:
    """What was denied stands in the audit log, with where it was asked for."""
    actor = (await client.get(f"{BASE}/api/v1/session", headers={"Accept": "application/json"})).json()[
        "actor_id"
    ]
    rows = await world.console.api.rows(
        "select action, via, target ~ '^(GET|POST) ', request_id is not null from postmill.audit_log"
        " where actor_id = %s and role = %s and result = 'denied'", actor, role,
    )  # fmt: skip
    # An act of several kinds asks once more, for what was chosen.
    assert {str(action) for action in denied} <= {row[0] for row in rows}, (role, home)
    assert {row[0] for row in rows} & set(PERMISSIONS[role]) == set(), (role, home)
    assert {row[1:] for row in rows} <= {("console", True, True)}, rows


async def test_every_page_of_an_empty_database(console_database: Database, world: World) -> None:
    """Nothing is there yet: a page says so, and what is asked for by an id of nothing is not found."""
    api = world.console.api
    await api.tenant("new-here")
    platform, tenant = (
        await world.console.browser(),
        await world.console.browser(Role.TENANT_ADMIN, "new-here"),
    )
    assert HTML in tenant.headers["accept"]
    for door in PAGES:
        if door.ops or door.things:
            continue
        path = world.path(door, "new-here", world.own)
        for client in (platform, tenant):
            answer = await client.get(path)
            assert answer.status_code == 200, (path, answer.text[-600:])
            check(answer, path)
            untold(answer, world.own, path)
