"""Claims that wait: rung, called in turn, and nothing is lost where the client goes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from time import monotonic
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from postmill.api import long_poll
from postmill.domain.access import Role
from tests.support.api import Api, opened
from tests.support.asgi import Call
from tests.support.http_work import HttpWorker, define_http, job, worker
from tests.support.served import served
from tests.support.workers import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def no_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks by itself: only the bell can wake."""
    monkeypatch.setattr(long_poll, "FIRST_POLLS", ())
    monkeypatch.setattr(long_poll, "POLL_EVERY", 60.0)
    monkeypatch.setattr(long_poll, "DEAF_EVERY", 60.0)


@pytest_asyncio.fixture(loop_scope="module")
async def server(api: Api) -> AsyncIterator[Api]:
    """An application of the test's own, which ends with it, and its listener."""
    async with opened(api.database, connections=4) as made:
        yield made


async def lying(api: Api, queue: str, n: int = 1) -> None:
    """Until so many wait for this queue, and hear."""

    async def so_many() -> bool:
        rows = await api.rows("select count(*) from postmill.sleeper where queue = %s", queue)
        return bool(rows == [(n,)]) and api.app.state.backend.desk.bell.listening

    await until(so_many)


def waits(one: HttpWorker, **more: Any) -> asyncio.Task[list[dict[str, Any]]]:
    return asyncio.create_task(one.claim(wait_seconds=30, **more))


async def test_an_enqueue_wakes_one_who_waits(server: Api, no_polls: None) -> None:
    await define_http(server, "rung", "rung")
    mine = [await worker(server, f"w{n}", queues=["rung"]) for n in range(3)]
    waiting = [waits(one) for one in mine]
    await lying(server, "rung", 3)
    # All of them have one ear.
    assert sum(name == "postmill listener" for _, name, _, _ in server.database.backends()) == 1
    ids = {str(await job(server, "rung"))}
    done, rest = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    # Two at once, for the two that are left: each gets one.
    async with server.owner.transaction():
        ids |= {str(await job(server, "rung")) for _ in range(2)}
    await asyncio.wait(rest)
    got = [held["job_id"] for task in waiting for held in task.result()]
    assert (len(got), set(got)) == (3, ids)
    assert len(done) == 1
    # Who got something is a sleeper no more.
    assert await server.rows("select count(*) from postmill.sleeper where queue = 'rung'") == [(0,)]


async def test_a_ring_for_others_does_not_answer_a_claim(server: Api, no_polls: None) -> None:
    """Of another type, or of another tenant: whom it is for gets it, however many waited before."""
    await define_http(server, "sort-a", "sorts")
    await define_http(server, "sort-b", "sorts")
    acme, bolt = await server.tenant("acme"), await server.tenant("bolt")
    a = await worker(server, "a", job_types=["sort-a"])
    of_acme = await worker(server, "acme", "acme", queues=["sorts"])
    b = await worker(server, "b", job_types=["sort-b"])
    waiting = {"a": waits(a), "acme": waits(of_acme)}
    await lying(server, "sorts", 2)
    waiting["b"] = waits(b)
    await lying(server, "sorts", 3)
    for_b = await job(server, "sort-b", tenant=bolt)
    assert [held["job_id"] for held in await waiting["b"]] == [str(for_b)]
    assert not waiting["a"].done()
    assert not waiting["acme"].done()
    for_a = await job(server, "sort-a", tenant=bolt)
    assert [held["job_id"] for held in await waiting["a"]] == [str(for_a)]
    for_acme = await job(server, "sort-b", tenant=acme)
    assert [held["job_id"] for held in await waiting["acme"]] == [str(for_acme)]


async def test_one_at_its_limit_leaves_it_to_the_next(server: Api, no_polls: None) -> None:
    await define_http(server, "capped", "capped", worker_limit=1)
    full = await worker(server, "full", queues=["capped"])
    await job(server, "capped")
    held = await full.one()
    first = waits(full)
    await lying(server, "capped")
    second = waits(await worker(server, "free", queues=["capped"]))
    await lying(server, "capped", 2)
    id = await job(server, "capped")
    assert [one["job_id"] for one in await second] == [str(id)]
    assert not first.done()
    await full.tell("complete", held)
    last = await job(server, "capped")
    assert [one["job_id"] for one in await first] == [str(last)]


async def test_other_servers_hear_it_too(server: Api, api: Api, no_polls: None) -> None:
    """The one whose worker serves the type need not be the one that lay down first."""
    await define_http(api, "far-a", "far")
    await define_http(api, "far-b", "far")
    here = waits(await worker(server, "here", job_types=["far-a"]))
    await lying(server, "far", 1)
    async with opened(api.database, connections=2) as there:
        far = waits(await worker(there, "there", job_types=["far-b"]))
        await lying(there, "far", 2)
        id = await job(api, "far-b")
        assert [held["job_id"] for held in await far] == [str(id)]
    await job(api, "far-a")
    assert len(await here) == 1


async def test_a_job_that_is_made_ready_by_others_wakes(server: Api, no_polls: None) -> None:
    """A failed attempt that an operator makes due."""
    await define_http(server, "again", "again")
    id = await job(server, "again")
    held = await (await worker(server, "holder", queues=["again"])).one()
    waiting = waits(await worker(server, "patient", queues=["again"]))
    await lying(server, "again")
    await (await worker(server, "holder")).tell("fail", held, error={"error_class": "E"})
    assert not waiting.done()
    await server.rows("select * from postmill.retry_jobs(%s)", [id])
    (got,) = await waiting
    assert (got["job_id"], got["attempt"]) == (str(id), 2)


async def test_without_the_bell_it_looks_by_itself(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_poll, "DEAF_EVERY", 0.05)
    await define_http(api, "deaf", "deaf")
    async with opened(api.database, others={"notify": False}) as deaf:
        one = await worker(deaf, "w", queues=["deaf"])
        waiting = waits(one)
        await until(lambda: _sleepers(deaf, "deaf"))
        id = await job(deaf, "deaf")
        assert [held["job_id"] for held in await waiting] == [str(id)]
        assert [name for _, name, _, _ in api.database.backends() if name == "postmill listener"] == []


async def _sleepers(api: Api, queue: str) -> bool:
    return bool(await api.rows("select 1 from postmill.sleeper where queue = %s", queue))


async def test_a_late_commit_is_found(server: Api) -> None:
    """Enqueued before the worker lay down, so it rang nobody; committed after the worker had looked."""
    await define_http(server, "late", "late")
    one = await worker(server, "w", queues=["late"])
    async with await server.database.aconnect() as conn:
        await conn.execute("begin")
        await conn.execute("select postmill.enqueue('late')")
        waiting = waits(one)
        await lying(server, "late")
        await conn.execute("commit")
    assert len(await waiting) == 1


async def test_the_time_is_over(server: Api) -> None:
    await define_http(server, "nothing", "nothing")
    one = await worker(server, "w", queues=["nothing"])
    began = monotonic()
    assert await one.claim(wait_seconds=0.2) == []
    assert monotonic() - began >= 0.2


async def test_a_server_that_ends_keeps_nobody_waiting(api: Api, no_polls: None) -> None:
    await define_http(api, "ending", "ending")
    async with opened(api.database) as ending:
        one = await worker(ending, "w", queues=["ending"])
        waiting = waits(one)
        await lying(ending, "ending")
        ending.app.state.backend.desk.send_home()
        assert await waiting == []


async def state(api: Api, id: UUID) -> tuple[Any, ...]:
    (row,) = await api.rows("select state, attempt from postmill.job_state(%s)", [id])
    return row


async def test_a_client_that_goes_while_it_waits_takes_nothing(server: Api, no_polls: None) -> None:
    await define_http(server, "goes", "goes")
    call = Call(
        server.app, "/worker/jobs/claim", await server.key(Role.WORKER),
        {"worker_id": "gone", "queues": ["goes"], "wait_seconds": 30},
    )  # fmt: skip
    request = asyncio.create_task(call.run())
    await lying(server, "goes")
    call.leave()
    await request
    id = await job(server, "goes")
    assert await state(server, id) == ("queued", 1)
    assert server.app.state.backend.desk.board(None, ["goes"], []).idle


async def test_a_call_that_a_gone_client_did_not_answer_goes_to_the_next(server: Api, no_polls: None) -> None:
    await define_http(server, "next", "next")
    call = Call(
        server.app, "/worker/jobs/claim", await server.key(Role.WORKER),
        {"worker_id": "gone", "queues": ["next"], "wait_seconds": 30},
    )  # fmt: skip
    request = asyncio.create_task(call.run())
    await lying(server, "next")
    waiting = waits(await worker(server, "there", queues=["next"]))
    await lying(server, "next", 2)
    # Both at once: it is rung, and it has gone.
    call.leave()
    id = await job(server, "next")
    await request
    assert [held["job_id"] for held in await waiting] == [str(id)]
    assert [held["attempt"] for held in waiting.result()] == [1]


@pytest.mark.parametrize("breaks", [True, False])
async def test_an_answer_that_finds_nobody_is_given_back(server: Api, breaks: bool) -> None:
    """The claim was committed; the wire breaks as the answer is sent, or the client had left before."""
    queue = f"lost-{breaks}"
    await define_http(server, queue, queue)
    ids = [await job(server, queue) for _ in range(3)]
    call = Call(
        server.app, "/worker/jobs/claim", await server.key(Role.WORKER),
        {"worker_id": "gone", "queues": [queue], "max_jobs": 2, "lease_seconds": 3600}, breaks=breaks,
    )  # fmt: skip
    if breaks:
        with pytest.raises(OSError, match="the client is gone"):
            await call.run()
    else:
        call.leave()
        await call.run()
    assert {await state(server, id) for id in ids} == {("queued", 1)}
    assert await server.rows("select count(*) from postmill.http_claim where job_id = any (%s)", ids) == [
        (0,)
    ]
    # No attempt was used up, and no execution.
    one = await worker(server, "there", queues=[queue])
    assert [(held["attempt"], held["run"]) for held in await one.claim(max_jobs=5)] == [(1, 1)] * 3


async def test_a_connection_that_is_cut_during_the_wait_takes_nothing(server: Api, no_polls: None) -> None:
    """Over a real socket."""
    await define_http(server, "cut", "cut")
    key = await server.key(Role.WORKER)
    body = json.dumps({"worker_id": "cut", "queues": ["cut"], "wait_seconds": 30, "lease_seconds": 3600})
    async with served(server.database.dsn) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(
            f"POST /api/v1/worker/jobs/claim HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        await until(lambda: _sleepers(server, "cut"))
        await until(lambda: any(name == "postmill listener" for _, name, _, _ in server.database.backends()))
        writer.close()
        await writer.wait_closed()
        id = await job(server, "cut")
        one = await worker(server, "there", queues=["cut"])
        (held,) = await one.claim(wait_seconds=20)
        assert (held["job_id"], held["attempt"], held["run"]) == (str(id), 1, 1)
        assert await reader.read() == b""
