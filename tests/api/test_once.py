"""The header Idempotency-Key: a request sent twice is done once, whatever happens between."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
import pytest_asyncio

from postmill.domain.access import Role
from tests.support.api import Api, problem
from tests.support.jobs_in_states import StateMaker

pytestmark = pytest.mark.asyncio(loop_scope="module")

BODY = {"definition_key": "plain", "payload": {"n": 1}}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(api: Api) -> httpx.AsyncClient:
    await api.define("plain")
    return await api.client()


async def send(client: httpx.AsyncClient, key: str, path: str = "/jobs", **request: Any) -> httpx.Response:
    request.setdefault("json", BODY)
    return await client.post(path, headers={"Idempotency-Key": key}, **request)


async def jobs(api: Api) -> int:
    ((n,),) = await api.rows("select count(*) from postmill.job")
    found: int = n
    return found


async def test_the_same_request_gets_the_same_answer(api: Api, client: httpx.AsyncClient) -> None:
    before = await jobs(api)
    first, second = await send(client, "a"), await send(client, "a")
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.content == first.content
    assert second.headers["location"] == first.headers["location"]
    assert second.headers["content-type"] == first.headers["content-type"]
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert second.headers["x-request-id"] != first.headers["x-request-id"]
    assert await jobs(api) == before + 1
    # It is about the request, not about the job.
    assert (await send(client, "another")).json()["id"] != first.json()["id"]


async def test_the_same_key_for_something_else_is_refused(client: httpx.AsyncClient) -> None:
    id = (await send(client, "b")).json()["id"]
    problem(await send(client, "b", json=BODY | {"priority": 1}), 422, "key-reused")
    problem(await send(client, "b", f"/jobs/{id}/cancel"), 422, "key-reused")


SPELLED = (
    b'{"definition_key":"plain","payload":{"n":10,"t":"\xc3\xa9/"},"priority":3}',
    b' { "priority" : 3,\n "payload": {"t": "\\u00e9\\/", "n": 10},\r\n "definition_key": "pl\\u0061in" } ',
)
OTHERS = (
    b'{"definition_key":"plain","payload":{"n":"10","t":"\xc3\xa9/"},"priority":3}',
    b'{"definition_key":"plain","payload":{"n":10,"t":"\xc3\xa9 /"},"priority":3}',
    b'{"definition_key":"plain","payload":{"n":100000000000000000000001,"t":"\xc3\xa9/"},"priority":3}',
    b'{"definition_key":"plain","payload":{"n":[10],"t":"\xc3\xa9/"},"priority":3}',
)


async def test_what_a_request_means_counts_and_not_how_it_is_written(
    api: Api, client: httpx.AsyncClient
) -> None:
    async def spelled(key: str, body: bytes) -> httpx.Response:
        headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
        return await client.post("/jobs", headers=headers, content=body)

    before = await jobs(api)
    first, second = [await spelled("s", body) for body in SPELLED]
    assert (first.status_code, second.json()) == (201, first.json())
    for body in OTHERS:
        problem(await spelled("s", body), 422, "key-reused")
    # Integers that a float cannot tell apart are different all the same.
    assert (await spelled("t", OTHERS[2])).status_code == 201
    other = OTHERS[2].replace(b"001,", b"002,")
    problem(await spelled("t", other), 422, "key-reused")
    assert await jobs(api) == before + 2
    for broken in (b"{", b'{"definition_key": ' + b"9" * 5000 + b"}", b"[" * 900 + b"]" * 900):
        answer = await spelled("u", broken)
        assert answer.status_code in (400, 422), answer.text
    assert (await send(client, "u")).status_code == 201


async def test_keys_are_each_principals_own(api: Api, client: httpx.AsyncClient) -> None:
    other = await api.client(Role.OPERATOR)
    assert (await send(client, "c")).json()["id"] != (await send(other, "c")).json()["id"]


async def test_an_error_is_not_kept(api: Api, client: httpx.AsyncClient) -> None:
    body = {"definition_key": "later"}
    problem(await send(client, "d", json=body), 422, "unknown-definition")
    await api.define("later")
    assert (await send(client, "d", json=body)).status_code == 201


async def test_two_at_once_are_one(api: Api, client: httpx.AsyncClient) -> None:
    before = await jobs(api)
    answers = await asyncio.gather(*[send(client, "e") for _ in range(8)])
    done = [answer for answer in answers if answer.status_code == 201]
    assert len({answer.json()["id"] for answer in done}) == 1
    for answer in answers:
        if answer not in done:
            problem(answer, 409, "request-under-way")
            assert answer.headers["retry-after"] == "1"
    assert await jobs(api) == before + 1


async def test_one_under_way_in_another_process(api: Api, client: httpx.AsyncClient) -> None:
    ((key_id,),) = await api.rows("select id from postmill.api_key where role = 'tenant_admin'")
    lock = "select pg_advisory_lock(hashtextextended(concat_ws(':', 'postmill.answer', 'api_key', %s::text, 'f'), 0))"
    async with await api.database.aconnect() as beside:
        await beside.execute(lock.encode(), [str(key_id)])
        problem(await send(client, "f"), 409, "request-under-way")
        await beside.execute(
            "select pg_advisory_unlock_all()"
        )  # a session that is closed ends a little later
    assert (await send(client, "f")).status_code == 201


async def test_answer_and_act_are_one_transaction(api: Api, client: httpx.AsyncClient) -> None:
    """Where the answer cannot be kept, nothing has been done either."""
    before = await jobs(api)
    await api.owner.execute("alter table postmill.http_answer add constraint no check (key <> 'g')")
    problem(await send(client, "g"), 422, "unstorable")
    assert await jobs(api) == before
    await api.owner.execute("alter table postmill.http_answer drop constraint no")
    assert (await send(client, "g")).status_code == 201
    assert await jobs(api) == before + 1


async def test_acts_are_repeated_as_little(api: Api, client: httpx.AsyncClient) -> None:
    maker = await StateMaker.begin(api.owner, api.tenants["acme"])
    id = await maker.ended("dead_letter")
    first = await send(client, "h", f"/dead-letters/{id}/replay", json=None)
    again = await send(client, "h", f"/dead-letters/{id}/replay", json=None)
    assert first.status_code == 201, first.text
    assert again.json() == first.json()
    problem(await client.post(f"/dead-letters/{id}/replay"), 409, "job-live")


async def test_answers_are_kept_for_a_day(api: Api, client: httpx.AsyncClient) -> None:
    first = await send(client, "i")
    await api.rows(
        "update postmill.http_answer set expires_at = postmill.now() - interval '1 s' where key = 'i' returning 1"
    )
    assert (await send(client, "i")).json()["id"] != first.json()["id"]
    rows = await api.rows(
        "select extract(epoch from expires_at - postmill.now()) from postmill.http_answer where key = 'i'"
    )
    assert 86_300 < rows[0][0] <= 86_400
    await api.rows("update postmill.http_answer set expires_at = postmill.now() - interval '1 s' returning 1")
    await api.owner.execute("select postmill.sweep_answers(1000)")
    assert await api.rows("select key from postmill.http_answer") == []


async def test_a_secret_is_not_kept(api: Api, client: httpx.AsyncClient) -> None:
    """A new key is shown once, also to whoever asks again."""
    body = {"name": "import", "role": "operator"}
    first = await send(client, "j", "/keys", json=body)
    assert first.status_code == 201, first.text
    problem(await send(client, "j", "/keys", json=body), 409, "answer-not-kept")
    assert first.json()["key"] not in str(await api.rows("select body from postmill.http_answer"))
    assert len(await api.rows("select id from postmill.api_key where name = 'import'")) == 1


@pytest.mark.parametrize("key", ["", "x" * 256, "ü"])
async def test_keys_that_are_none(client: httpx.AsyncClient, key: str) -> None:
    answer = await client.post("/jobs", json=BODY, headers={"Idempotency-Key": key.encode("latin-1")})
    problem(answer, 422, "invalid-request")


async def test_reading_needs_none(client: httpx.AsyncClient) -> None:
    for _ in range(2):
        answer = await client.get("/jobs/summary", headers={"Idempotency-Key": "k"})
        assert "idempotency-replayed" not in answer.headers
