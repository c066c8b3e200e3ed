"""Jobs that come at the same time go in together, and none bears what is another's."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.api import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def statements(api: Api, ids: list[str]) -> int:
    """How many transactions made these jobs."""
    rows = await api.rows(
        "select count(distinct xmin::text) from postmill.job where id = any(%s::uuid[])", ids
    )
    return int(rows[0][0])


async def test_what_comes_together_goes_in_together_and_keeps_apart(api: Api) -> None:
    """Each job has the tenant and the request id of its own request."""
    await api.define("gathered")
    acme, other = await api.client(), await api.client(tenant="other")
    answers = await asyncio.gather(
        *(
            client.post("/jobs", json={"definition_key": "gathered", "payload": {"n": n}})
            for n in range(40)
            for client in (acme, other)
        )
    )
    assert {answer.status_code for answer in answers} == {201}
    ids = [answer.json()["id"] for answer in answers]
    assert len(set(ids)) == 80
    assert await statements(api, ids) < 80
    found = {
        str(id): (str(tenant), request_id, payload["n"])
        for id, tenant, request_id, payload in await api.rows(
            "select id, tenant_id, request_id, payload from postmill.job where id = any(%s::uuid[])", ids
        )
    }
    for n, answer in enumerate(answers):
        tenant = api.tenants["other" if n % 2 else "acme"]
        assert found[answer.json()["id"]] == (str(tenant), answer.headers["x-request-id"], n // 2)


async def test_one_that_the_database_refuses_is_refused_alone(api: Api) -> None:
    """Not by a status of the door but by an error, which undoes what it shares a statement with."""
    await api.define("poisoned")
    await api.owner.execute(
        """create function public.spit() returns trigger language plpgsql as $$
           begin raise exception 'poison' using errcode = 'check_violation'; end $$"""
    )
    await api.owner.execute(
        """create trigger spit before insert on postmill.job for each row
           when (new.payload ? 'poison') execute function public.spit()"""
    )
    try:
        client = await api.client()
        payloads: list[dict[str, Any]] = [{"poison": 1} if n == 7 else {"n": n} for n in range(20)]
        answers = await asyncio.gather(
            *(client.post("/jobs", json={"definition_key": "poisoned", "payload": one}) for one in payloads)
        )
    finally:
        await api.owner.execute("drop trigger spit on postmill.job")
        await api.owner.execute("drop function public.spit()")
    refused = [n for n, answer in enumerate(answers) if answer.status_code != 201]
    assert refused == [7]
    rows = await api.rows("select payload from postmill.job where job_type = 'poisoned'")
    assert sorted(row[0]["n"] for row in rows) == [n for n in range(20) if n != 7]


async def test_who_gives_up_takes_nobody_along(api: Api) -> None:
    """A statement waits; one of its requests is given up; the others are answered, and everything was entered once."""
    await api.define("waited for")
    client = await api.client()
    async with await api.database.aconnect() as blocker, blocker.transaction():
        await blocker.execute("lock table postmill.ready in exclusive mode")
        asked = [
            asyncio.create_task(
                client.post("/jobs", json={"definition_key": "waited for", "payload": {"n": n}})
            )
            for n in range(10)
        ]
        await waiting(api)
        asked[0].cancel()
        asked[5].cancel()
        await asyncio.wait({asked[0], asked[5]})
    answers = await asyncio.gather(*asked, return_exceptions=True)
    codes = [getattr(answer, "status_code", None) for answer in answers]
    assert codes == [None, 201, 201, 201, 201, None, 201, 201, 201, 201]
    while True:
        rows = await api.rows("select payload from postmill.job where job_type = 'waited for'")
        if len(rows) == 10:
            break
        await asyncio.sleep(0.01)
    assert sorted(row[0]["n"] for row in rows) == list(range(10))


async def waiting(api: Api) -> None:
    """Until a statement waits for a lock."""
    query = """select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"""
    while not await api.rows(query):
        await asyncio.sleep(0.01)
