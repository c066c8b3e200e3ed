"""Whom a claim gives what: scopes, lanes, types, limits, and never the same job twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from postmill.domain.access import Role
from tests.support import sessions
from tests.support.api import Api, opened, problem
from tests.support.http_work import define_http, job, worker

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def definitions(api: Api) -> AsyncIterator[None]:
    await define_http(api, "thumb", "media", aliases=["thumbnail"])
    await define_http(api, "crop", "media")
    await api.define("in-python")
    for slug in ("acme", "bolt", "cord"):
        await api.tenant(slug)
    yield


async def test_a_worker_of_a_tenant_gets_its_tenants_jobs_only(api: Api) -> None:
    """In whatever lane they are; a worker of the platform gets all."""
    await define_http(api, "flat", "flat", lane="none")
    await define_http(api, "keyed", "keyed", lane="payload.album")
    mine, other = api.tenants["acme"], api.tenants["bolt"]
    own, others = set(), set()
    for type in ("thumb", "flat", "keyed"):
        for n in range(3):
            others.add(str(await job(api, type, f'{{"album": "{n}"}}', tenant=other)))
            own.add(str(await job(api, type, f'{{"album": "{n}"}}', tenant=mine)))
    queues = ["media", "flat", "keyed"]
    acme = await worker(api, "w", "acme", queues=queues)
    claimed = [await acme.claim(max_jobs=2) for _ in range(6)]
    assert {one["job_id"] for jobs in claimed for one in jobs} == own
    assert {one["tenant_id"] for jobs in claimed for one in jobs} == {str(mine)}
    platform = await worker(api, "w", None, queues=queues)
    rest = await platform.claim(max_jobs=100)
    assert {one["job_id"] for one in rest} == others
    # Same name, another scope, another session; and neither reports for the other's jobs.
    foreign = await acme.tell("complete", rest[0])
    problem(foreign, 404, "not-found")
    assert (await platform.tell("complete", claimed[0][0])).status_code == 200
    for one in rest:
        assert (await platform.tell("complete", one)).status_code == 200


async def test_two_workers_never_get_the_same_job(api: Api) -> None:
    """Ten of them at two servers, all at once."""
    await define_http(api, "many", "many")
    ids = [str(await job(api, "many", tenant=tenant)) for tenant in api.tenants.values() for _ in range(20)]
    got: Counter[str] = Counter()

    async with opened(api.database, connections=3) as one, opened(api.database, connections=3) as two:

        async def work(n: int) -> None:
            mine = await worker(one if n % 2 else two, f"many-{n}", queues=["many"])
            while jobs := await mine.claim(max_jobs=3):
                got.update(job["job_id"] for job in jobs)
                for held in jobs:
                    assert (await mine.tell("complete", held)).status_code == 200

        for server in (one, two):
            await server.client(Role.WORKER, None)
        await asyncio.gather(*[work(n) for n in range(10)])
    assert got == Counter(ids)
    assert await api.rows("select count(*) from postmill.running r where r.queue = 'many'") == [(0,)]


async def test_tenants_take_turns_over_requests(api: Api) -> None:
    await define_http(api, "turns", "turns")
    acme, bolt = api.tenants["acme"], api.tenants["bolt"]
    for _ in range(20):
        await job(api, "turns", tenant=acme)
    for _ in range(3):
        await job(api, "turns", tenant=bolt)
    one = await worker(api, "turner", queues=["turns"])
    first = [(await one.one())["tenant_id"] for _ in range(6)]
    assert Counter(first) == {str(acme): 3, str(bolt): 3}


async def test_queues_of_one_priority_take_turns(api: Api) -> None:
    for queue in ("left", "right"):
        await define_http(api, queue, queue)
        for _ in range(4):
            await job(api, queue)
    one = await worker(api, "turner", queues=["left", "right"])
    assert Counter([(await one.one())["queue"] for _ in range(4)]) == {"left": 2, "right": 2}
    assert len(await one.claim(max_jobs=10)) == 4


async def test_priorities_order_jobs_and_queues(api: Api) -> None:
    await define_http(api, "later", "later")
    await define_http(api, "sooner", "sooner")
    await api.owner.execute("update postmill.queue set priority = 1 where name = 'sooner'")
    low = await job(api, "later", priority=200)
    high = await job(api, "later", priority=1)
    other = await job(api, "sooner", priority=300)
    one = await worker(api, "w-p", queues=["later", "sooner"])
    assert [(await one.one())["job_id"] for _ in range(3)] == [str(other), str(high), str(low)]


async def test_a_worker_gets_jobs_of_its_types_only(api: Api) -> None:
    """A long row of others' jobs before them hides nothing."""
    crops = {str(await job(api, "crop")) for _ in range(30)}
    mine = await job(api, "thumb")
    one = await worker(api, "w-t", queues=["media"], job_types=["thumbnail"])
    assert (await one.one())["job_id"] == str(mine)
    assert await one.claim() == []
    again = await job(api, "thumb")
    assert (await one.one())["job_id"] == str(again)
    # Without queues: those of its types.
    cropper = await worker(api, "w-c", job_types=["crop"])
    assert {held["job_id"] for held in await cropper.claim(max_jobs=100)} == crops


async def test_a_paused_queue_gives_nothing(api: Api) -> None:
    await define_http(api, "held-up", "held-up")
    await job(api, "held-up")
    operator = await api.client(Role.PLATFORM_OPERATOR, None)
    assert (await operator.post("/queues/held-up/pause", json={"reason": "test"})).status_code == 200
    one = await worker(api, "w-h", queues=["held-up"])
    assert await one.claim() == []
    assert (await operator.post("/queues/held-up/resume")).status_code == 200
    assert len(await one.claim()) == 1


async def test_a_rate_holds_over_all_workers(api: Api) -> None:
    await define_http(api, "rated", "rated", rate={"count": 3, "seconds": 3600.0})
    await define_http(api, "unrated", "rated")
    for _ in range(6):
        await job(api, "rated")
        await job(api, "unrated")
    one, two = [await worker(api, name, queues=["rated"]) for name in ("w-r1", "w-r2")]
    got = [held["job_type"] for mine in (one, two) for held in await mine.claim(max_jobs=50)]
    assert Counter(got) == {"rated": 3, "unrated": 6}
    assert await two.claim(max_jobs=50) == []


async def test_a_limit_per_worker_counts_what_it_holds(api: Api) -> None:
    await define_http(api, "capped", "capped", worker_limit=2)
    for _ in range(5):
        await job(api, "capped")
    with api.database.connect() as conn:  # a worker in Python had them in hand, and does not know the type
        lanes = sessions.rows(conn, "claim/discover_lanes", ["capped"], 10)
        taken = sessions.WorkerSession(conn).claim(lanes=lanes)
        assert (len(taken), sessions.refuse(conn, taken)) == (5, set())
        assert sessions.rows(conn, "claim/discover_lanes", ["capped"], 10) != lanes
    one, two = [await worker(api, name, queues=["capped"]) for name in ("w-l1", "w-l2")]
    held = await one.claim(max_jobs=10)
    assert len(held) == 2
    assert await one.claim(max_jobs=10) == []
    assert len(await two.claim(max_jobs=10)) == 2
    await one.tell("complete", held[0])
    assert len(await one.claim(max_jobs=10)) == 1


async def test_workers_say_what_they_serve(api: Api) -> None:
    """So that the list of workers, and what is served by nobody, is right."""
    one = await worker(api, "w-say", job_types=["crop"])
    await one.claim(lease_seconds=20)
    operator = await api.client(Role.PLATFORM_VIEWER, None)
    listed = (await operator.get("/workers", params={"limit": 200})).json()["items"]
    (shown,) = [item for item in listed if item["worker_id"] == "w-say"]
    assert (shown["queues"], shown["state"], shown["running_count"]) == (["media"], "running", 0)
    definitions = (await operator.get("/admin/jobs/definitions", params={"limit": 200})).json()["items"]
    (crop,) = [item for item in definitions if item["key"] == "crop"]
    assert "w-say" in {served["worker_id"] for served in crop["served_by"]}
    assert crop["drift"] == []
    # The name goes on with its session as long as that lives, and what it holds is counted.
    running = "select running_count from postmill.worker where worker_id = 'w-say'"
    for _ in range(2):
        await job(api, "crop")
    held = await one.claim(max_jobs=2)
    assert await api.rows(running) == [(2,)]
    await one.tell("complete", held[0])
    assert await api.rows(running) == [(1,)]


@pytest.mark.parametrize(
    ("ask", "kind", "said"),
    [
        ({"job_types": ["thum"]}, "unknown-definition", "thumb"),
        ({"queues": ["medium"]}, "unknown-queue", "media"),
        ({"job_types": ["in-python"]}, "not-for-http-workers", "not of kind http"),
        ({"queues": ["default"]}, "not-for-http-workers", "not of kind http"),
    ],
)
async def test_what_is_not_for_http_workers_is_refused_by_name(
    api: Api, ask: dict[str, list[str]], kind: str, said: str
) -> None:
    one = await worker(api, "w-x", None)
    assert said in problem(await one.try_claim(**ask), 422, kind)["detail"]


async def test_a_claim_takes_no_idempotency_key(api: Api) -> None:
    await job(api, "thumb")
    one = await worker(api, "w-i", queues=["media"])
    answer = await one.client.post("/worker/jobs/claim", json=one.ask, headers={"Idempotency-Key": "k"})
    problem(answer, 422, "invalid-request")
    assert len(await one.claim()) == 1
