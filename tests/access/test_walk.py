"""Every route × every role × two tenants, from the application's own table of routes: closed by default.

What a route does is said by its `may(action)`; what the role may, by the table of permissions. So a new route is
walked from the moment it is there, and one that asks for nothing fails.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from psycopg import Connection

from postmill.artifacts.store import Store
from postmill.artifacts.writing import Writing
from postmill.domain.access import PERMISSIONS, PLATFORM_ROLES, TENANT_ROLES, Action, Role
from tests.access.doors import CLOSED, SHARED, Door, filled
from tests.access.world import Tenant
from tests.support.api import BASE, Api, opened
from tests.support.databases import Database

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(world_database: Database, _built: Any) -> AsyncIterator[Api]:
    address = "memory://walk"
    async with opened(world_database, rate_per_key=1e6, others={"artifacts": {"url": address}}) as made:
        for tenant in _built[1]:
            await asyncio.to_thread(put, _built[0], Store(address, {}), tenant)
        made.tenants |= {tenant.mark: tenant.id for tenant in _built[1]}
        yield made


def put(owner: Connection[Any], store: Store, tenant: Tenant) -> None:
    """The file of a tenant's artifact, which the world knows only by its row."""
    id = tenant.ids["artifact"]
    writing = Writing(store, id, tenant.id, 1000)
    writing.write(tenant.mark.encode())
    writing.accept()
    owner.execute(
        "update postmill.artifact set size = %s, sha256 = %s where id = %s",
        (writing.size, writing.sha256, id),
    )


@pytest.mark.parametrize("door", CLOSED, ids=str)
async def test_nobody_comes_in_without_credentials(api: Api, tenants: list[Tenant], door: Door) -> None:
    path = filled(door, tenants[1])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(api.app), base_url=BASE) as client:
        for method, variant in variants(door, path):
            answer = await client.send(
                client.build_request(method, variant, json={} if method in ("POST", "PATCH") else None,
                                     headers={"X-Original-URL": "/healthz", "X-Rewrite-URL": "/healthz",
                                              "X-Forwarded-Prefix": "/healthz"}),
                follow_redirects=False,
            )  # fmt: skip
            assert answer.status_code == 401, (method, variant, answer.status_code)
            assert all(trace not in answer.text for trace in tenants[1].traces if trace not in variant)


def variants(door: Door, path: str) -> Iterator[tuple[str, str]]:
    """Case 99: ways to write a path, and other methods, by which a guard elsewhere was passed by."""
    yield door.method, path
    yield "HEAD", path
    yield "OPTIONS", path
    yield door.method, path + "/"
    yield door.method, "/" + path
    yield door.method, path.replace("/api", "//api")
    yield door.method, path.upper()
    yield door.method, path.replace("api", "%61pi")
    yield door.method, "/healthz/.." + path
    yield door.method, "/healthz/%2e%2e" + path
    yield door.method, path + "/%2e"
    yield door.method, path + ";/healthz"
    yield door.method, path + "?/healthz"
    yield door.method, path + "%00/healthz"
    yield "TRACE", path


@pytest.mark.parametrize("role", Role)
async def test_each_role_does_what_it_may_and_nothing_else(
    api: Api, tenants: list[Tenant], role: Role
) -> None:
    """In Ada's tenant, with Bob's ids in every path; auditors and workers also as the platform's."""
    own, other = tenants
    homes = {None} if role in PLATFORM_ROLES else {own.mark} if role in TENANT_ROLES else {None, own.mark}
    before = await picture(api, other)
    for home in homes:
        client = await api.client(role, home)
        for door in CLOSED:
            if str(door) == "DELETE /api/v1/session":
                continue
            path = filled(door, other)
            safe = door.method == "GET"
            if home is None and not safe and (door.action is None or door.action in PERMISSIONS[role]):
                continue  # what a role of the platform may change anywhere is shown by each route's own tests
            if door.action is Action.WORK and door.action in PERMISSIONS[role] and home is None:
                continue
            body = {} if door.method in ("POST", "PATCH", "PUT") else None
            answer = await client.request(door.method, BASE + path, json=body)
            allowed = door.action is None or door.action in PERMISSIONS[role]
            where = (role, home, str(door), answer.status_code, answer.text[:300])
            assert (answer.status_code not in (401, 403)) == allowed, where
            assert answer.status_code < 500, where
            if home is not None:
                # In the log stands what Ada herself asked for, with Bob's ids in it.
                traces = [other.mark] if "/audit" in path else other.traces
                told = [trace for trace in traces if trace in answer.text and trace not in path]
                assert told == [], where
                if allowed and "{" in door.path and not SHARED & set(re.findall(r"{(\w+)", door.path)):
                    assert answer.status_code in (404, 422), where
    assert await picture(api, other) == before


async def test_what_is_denied_is_written_down_once(api: Api, tenants: list[Tenant]) -> None:
    viewer = await api.client(Role.VIEWER, tenants[1].mark)
    for _ in range(5):
        answer = await viewer.post(f"/jobs/{tenants[1].ids['queued']}/cancel", json={})
        assert answer.status_code == 403
    actor = (await viewer.get("/session")).json()["actor_id"]
    rows = await api.rows(
        "select via, role, result, target, request_id is not null from postmill.audit_log"
        " where actor_id = %s and action = 'jobs.cancel'", actor
    )  # fmt: skip
    assert rows == [("api", "viewer", "denied", f"POST /api/v1/jobs/{tenants[1].ids['queued']}/cancel", True)]


async def picture(api: Api, tenant: Tenant) -> list[tuple[Any, ...]]:
    """What a tenant has, by a few tables that acts would change."""
    return await api.rows(
        "select 'job', count(*)::text from postmill.any_job where tenant_id = %s union all"
        " select 'key', count(*)::text from postmill.api_key where tenant_id = %s and revoked_at is null union all"
        " select 'login', count(*)::text from postmill.console_session where tenant_id = %s and ended_at is null union all"
        " select 'dead', count(*)::text from postmill.dead_letter where tenant_id = %s union all"
        " select 'trigger', string_agg(t::text, ',' order by id) from postmill.trigger t where tenant_id = %s union all"
        " select 'webhook', string_agg(t::text, ',' order by id) from postmill.webhook t where tenant_id = %s union all"
        " select 'artifact', string_agg(a::text, ',' order by id) from postmill.artifact a where a.tenant_id = %s union all"
        " select 'state', string_agg(s.state, ',' order by s.id) from postmill.job_state(%s) s union all"
        " select 'canceled', count(*)::text from postmill.cancel_request where job_id = any(%s) order by 1",
        *[tenant.id] * 7, *[list(tenant.ids.values())] * 2,
    )  # fmt: skip
