"""What holds for every route: bodies, rates, ids, sub-paths, proxies, keys that end, a database that is away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.routing import Mount

from postmill.api import create_app
from postmill.domain.access import Role
from postmill.domain.settings import Settings
from tests.support.api import BASE, Api, opened, problem

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON = {"Content-Type": "application/json"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(api: Api) -> httpx.AsyncClient:
    await api.define("plain")
    return await api.client()


async def post(client: httpx.AsyncClient, body: bytes | str) -> httpx.Response:
    return await client.post("/jobs", content=body, headers=JSON)


async def test_bodies_are_bounded(client: httpx.AsyncClient) -> None:
    def body(size: int) -> bytes:
        made = json.dumps({"definition_key": "plain", "payload": {"text": ""}}).encode()
        return made.replace(b'""', b'"' + b"x" * (size - len(made)) + b'"')

    limit = 1024 * 1024
    assert (await post(client, body(limit))).status_code == 201
    document = problem(await post(client, body(limit + 1)), 413, "body-too-large")
    assert document["limit"] == limit

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 60_000

    answer = await client.post("/jobs", content=chunks(), headers=JSON)
    problem(answer, 413, "body-too-large")


async def test_who_leaves_in_mid_body_is_no_fault(api: Api) -> None:
    """Nothing is answered, and nothing is raised for the log to show as ours."""
    key = await api.key(Role.TENANT_ADMIN, "acme")
    heads = {"authorization": f"Bearer {key}", "content-type": "application/json", "content-length": "100"}
    said = iter(
        [{"type": "http.request", "body": b'{"definition', "more_body": True}, {"type": "http.disconnect"}]
    )
    answered: list[Any] = []

    async def receive() -> Any:
        return next(said)

    async def send(message: Any) -> None:
        answered.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/v1/jobs", "raw_path": b"/api/v1/jobs"}
    scope |= {"query_string": b"", "http_version": "1.1", "scheme": "http", "asgi": {"version": "3.0"}}
    scope |= {"headers": [(name.encode(), value.encode()) for name, value in heads.items()]}
    await api.app(scope | {"client": ("127.0.0.1", 1), "server": ("api.test", 80)}, receive, send)
    assert answered == []


async def test_bodies_are_strict_json(client: httpx.AsyncClient) -> None:
    def nested(levels: int) -> str:
        # The payload itself is one of them.
        inner = "[" * (levels - 1) + "]" * (levels - 1)
        return f'{{"definition_key": "plain", "payload": {{"a": {inner}}}}}'

    assert (await post(client, nested(200))).status_code == 201
    for body, status, kind in (
        (nested(201), 422, "too-deep"),
        (nested(100_000), 422, "too-deep"),
        ('{"definition_key": "plain", "payload": {"a": NaN}}', 400, "invalid-json"),
        ('{"definition_key": "plain", "payload": {"a": -Infinity}}', 400, "invalid-json"),
        ('{"definition_key": "plain", "payload": {"a": 1e400}}', 422, "invalid-payload"),
        ('{"definition_key": "plain", "payload": {"a": "\\ud800"}}', 400, "invalid-json"),
        ('{"definition_key": "plain", "payload": {"a": "\\u0000"}}', 422, "unstorable"),
        ('{"definition_key": "pl\\u0000ain"}', 422, "unstorable"),
        ("{", 400, "invalid-json"),
        (b"\xff\xfe{\x00}\x00", 400, "invalid-json"),
        ("", 422, "invalid-request"),
    ):
        problem(await post(client, body), status, kind)
    assert (
        await post(client, '{"definition_key": "plain", "payload": {"a": "\\\\u0000"}}')
    ).status_code == 201
    answer = await client.post(
        "/jobs", content=b"definition_key=plain", headers={"Content-Type": "text/plain"}
    )
    problem(answer, 422, "invalid-request")


async def test_numbers_survive(client: httpx.AsyncClient) -> None:
    payload = '{"big": 123456789012345678901234567890, "small": -0.5, "exact": 9007199254740993}'
    answer = await post(client, f'{{"definition_key": "plain", "payload": {payload}}}')
    shown = await client.get(f"/jobs/{answer.json()['id']}")
    assert json.loads(shown.text)["payload"] == json.loads(payload)


async def test_nobody_without_credentials_has_a_body_read(client: httpx.AsyncClient) -> None:
    answer = await client.post("/jobs", content="{", headers=JSON | {"Authorization": ""})
    problem(answer, 401, "unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_request_ids(client: httpx.AsyncClient) -> None:
    for sent, kept in (("abc-1", True), ("x" * 100, True), ("x" * 101, False), ("ü", False), ("", False)):
        answer = await client.get("/jobs/summary", headers={"X-Request-ID": sent.encode("latin-1")})
        assert (answer.headers["x-request-id"] == sent) is kept
    answers = [await client.get(path) for path in ("/jobs/summary", "/nothing", "/jobs?a=b")]
    assert len({answer.headers["x-request-id"] for answer in answers}) == 3
    problem(answers[1], 404, "not-found")
    problem(await client.put("/jobs", json={}), 405, "method-not-allowed")


async def test_a_revoked_key_opens_nothing_though_it_is_remembered(
    api: Api, client: httpx.AsyncClient
) -> None:
    mine = await api.client(Role.OPERATOR)
    assert (await mine.post("/jobs", json={"definition_key": "plain"})).status_code == 201
    assert (await mine.get("/jobs/summary")).status_code == 200
    await api.rows(
        "update postmill.api_key set revoked_at = postmill.now() where role = 'operator' returning 1"
    )
    ((before,),) = await api.rows("select count(*) from postmill.job")
    for answer in (
        await mine.post("/jobs", json={"definition_key": "plain"}),
        await mine.get("/jobs/summary"),
        await mine.post("/jobs", json={"definition_key": "plain"}, headers={"Idempotency-Key": "late"}),
    ):
        problem(answer, 401, "unauthorized")
    assert await api.rows("select count(*) from postmill.job") == [(before,)]


async def test_a_rate_for_each_key(api: Api) -> None:
    async with opened(api.database, rate_per_key=5) as own:
        own.tenants, own.keys = api.tenants, {}
        hasty = await own.client(Role.VIEWER, "acme")
        patient = await own.client(Role.TENANT_ADMIN, "acme")
        answers = [await hasty.get("/session") for _ in range(40)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert {answer.status_code for answer in answers[:5]} == {200}
        assert len(refused) > 20
        problem(refused[0], 429, "too-many-requests")
        assert int(refused[0].headers["retry-after"]) >= 1
        assert (await patient.get("/session")).status_code == 200


async def test_below_another_application_and_behind_a_proxy(api: Api, client: httpx.AsyncClient) -> None:
    settings = Settings.model_validate(
        {"database_url": api.database.dsn, "server": {"trusted_proxies": "127.0.0.1"}}
    )
    inner = create_app(settings)
    outer = Starlette(
        routes=[Mount("/tools/jobs", inner)], lifespan=lambda _: inner.router.lifespan_context(inner)
    )
    async with outer.router.lifespan_context(outer):
        transport = httpx.ASGITransport(outer, client=("127.0.0.1", 1234))
        base = f"{BASE}/tools/jobs/api/v1"
        async with httpx.AsyncClient(transport=transport, base_url=base, headers=client.headers) as below:
            answer = await below.post("/jobs", json={"definition_key": "plain"})
            assert answer.status_code == 201, answer.text
            assert answer.headers["location"] == f"/tools/jobs/api/v1/jobs/{answer.json()['id']}"
            assert (await below.get(f"{BASE}{answer.headers['location']}")).status_code == 200
            document = problem(await below.get("/jobs/none"), 404, "not-found")
            assert document["instance"] == "/tools/jobs/api/v1/jobs/none"
    async with opened(api.database, root_path="/postmill") as own:
        own.tenants, own.keys = api.tenants, api.keys
        answer = await (await own.client()).post("/jobs", json={"definition_key": "plain"})
        assert answer.headers["location"] == f"/postmill/api/v1/jobs/{answer.json()['id']}"


async def test_a_database_that_is_away_is_503(api: Api, client: httpx.AsyncClient) -> None:
    settings = Settings.model_validate({"database_url": "postgresql://nobody@127.0.0.1:1/none"})
    app = create_app(settings)
    transport: Any = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with app.router.lifespan_context(app):
        app.state.backend.pool.timeout = 0.05
        async with httpx.AsyncClient(
            transport=transport, base_url=f"{BASE}/api/v1", headers=client.headers
        ) as away:
            answer = await away.get("/jobs/summary")
    problem(answer, 503, "database-busy")
    assert answer.headers["retry-after"] == "1"


async def test_the_document_is_for_whoever_may_come_in(api: Api, client: httpx.AsyncClient) -> None:
    assert (await client.get("/openapi.json")).json()["openapi"] == "3.1.0"
    problem(await client.get("/openapi.json", headers={"Authorization": ""}), 401, "unauthorized")


async def test_the_page_of_metrics_tells_of_requests_and_of_jobs_that_came_in(
    api: Api, client: httpx.AsyncClient
) -> None:
    await api.define("counted", queue="q:counted")
    viewer = await api.client(Role.PLATFORM_VIEWER, None)

    async def told(line: str) -> float:
        page = (await viewer.get(f"{BASE}/metrics")).text.splitlines()
        return next((float(one.removeprefix(line)) for one in page if one.startswith(line + " ")), 0.0)

    enqueued = 'jobs_enqueued_total{job_type="counted",queue="q:counted"}'

    async def counted() -> None:
        """Until the jobs are old enough to be counted."""
        async with asyncio.timeout(60):
            while await told(enqueued) < 2:
                await asyncio.sleep(0.1)

    created = 'postmill_http_requests_total{method="POST",route="/api/v1/jobs",status="201"}'
    found = 'postmill_http_requests_total{method="GET",route="/api/v1/jobs/{job_id}",status="200"}'
    nowhere = 'postmill_http_requests_total{method="any",route="none",status="404"}'
    astray = await told(nowhere)
    before = await told(created)
    for key in ({}, {"dedupe_key": "once"}, {"dedupe_key": "once"}):
        answer = await client.post("/jobs", json={"definition_key": "counted", **key})
        await client.get(f"/jobs/{answer.json()['id']}")
    await counted()
    assert await told(enqueued) == 2
    assert await told(created) == before + 2
    assert await told(found) >= 3
    await client.get("/jobs/x/y/z")
    assert await told(nowhere) == astray + 1
