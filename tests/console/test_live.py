"""The live stream over real sockets: who is told of what, how often, and when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from uuid import uuid4

import httpx
import orjson
import pytest
import pytest_asyncio
from psycopg import AsyncConnection

from postmill.api.cookies import COOKIE, csrf_token
from postmill.bind import adrive
from postmill.domain.access import Role
from postmill.engine.upkeep.monitor import Monitor
from postmill.engine.upkeep.roller import Roller
from postmill.operate.keys import create_key
from tests.console.serving import Live, serving
from tests.support.databases import Database
from tests.support.eventually import aeventually

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Followed:
    """What a stream said so far; `over` when it ended."""

    status: int
    headers: httpx.Headers
    pings: list[tuple[str, int]] = field(default_factory=list)
    comments: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)
    read: asyncio.Task[None] | None = None

    def topics(self) -> set[str]:
        return {topic for topic, _ in self.pings}

    async def until(self, *topics: str) -> None:
        await aeventually(lambda: set(topics) <= self.topics(), what=f"{topics} in {self.pings}")


@asynccontextmanager
async def following(client: httpx.AsyncClient, path: str) -> AsyncIterator[Followed]:
    async with client.stream("GET", path, headers={"Accept": "text/event-stream"}) as answer:
        found = Followed(answer.status_code, answer.headers)

        async def read() -> None:
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    found.pings.append(tuple(orjson.loads(line[6:])))
                elif line == ":":
                    found.comments += 1
            found.over.set()

        found.read = asyncio.create_task(read())
        try:
            yield found
        finally:
            found.read.cancel()
            await asyncio.gather(found.read, return_exceptions=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def live(console_database: Database) -> AsyncIterator[Live]:
    async with serving(console_database) as made:
        made.hub.gap = 0.05
        yield made


async def test_everybody_is_told_of_his_own_and_of_nothing_else(live: Live) -> None:
    chief = await live.browser(Role.PLATFORM_OPERATOR)
    acme = await live.browser(Role.TENANT_ADMIN, "acme")
    other = await live.browser(Role.VIEWER, "other")
    async with (
        following(chief, "/ops/live") as all_of_it,
        following(acme, "/t/acme/live") as own,
        following(other, "/t/other/live") as others,
    ):
        assert all_of_it.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert (all_of_it.headers["x-accel-buffering"], all_of_it.headers["cache-control"]) == (
            "no",
            "no-store",
        )
        for stream in (all_of_it, own, others):
            await stream.until("up")
        assert await live.listeners() == 1
        await live.ended("acme", 3)
        await live.round(Roller)
        mine = f"jobs:{live.tenants['acme']}"
        await all_of_it.until("jobs:ops", mine, "queues:ops")
        await own.until(mine)
        await live.round(Monitor)
        await all_of_it.until("workers:ops", "incidents:ops")
        await live.audited("budgets.set", "other")
        await others.until(f"budgets:{live.tenants['other']}", f"audit:{live.tenants['other']}")
        await live.audited("keys.create", None)
        await all_of_it.until("settings:ops")
        # Numbers and topics, never data; and each only his own tenant.
        for stream, scopes in ((own, {live.tenants["acme"]}), (others, {live.tenants["other"]})):
            told = {topic for topic in stream.topics() if ":" in topic}
            assert {topic.partition(":")[2] for topic in told} == {str(one) for one in scopes}
        for _, n in all_of_it.pings:
            assert isinstance(n, int)
    # More tenants than are told one by one: everybody is told that he may be meant.
    async with following(acme, "/t/acme/live") as own:
        await own.until("up")
        await live.owner.execute(
            "select postmill.count_end(gen_random_uuid(), 'q', 't', 'failed', 1, 1, 1) from generate_series(1, 101)"
        )
        await live.round(Roller)
        await own.until("jobs:*")


async def test_a_topic_comes_once_a_second_and_nothing_while_nobody_looks(live: Live) -> None:
    chief = await live.browser(Role.SUPER_ADMIN)
    async with await AsyncConnection.connect(live.dsn, autocommit=True) as ear:
        await ear.execute("listen postmill_live")
        async with following(chief, "/ops/live") as stream:
            await stream.until("up")
            live.hub.gap, began = 1.0, monotonic()
            for _ in range(200):
                await live.audited("queues.pause", None)
            await live.audited("tenants.change", None)
            await stream.until("queues:ops", "tenants:ops")
            seconds = monotonic() - began
            assert sum(topic == "queues:ops" for topic, _ in stream.pings) <= 2 + seconds
            live.hub.gap = 0.05
            heard = [note.payload async for note in ear.notifies(timeout=1, stop_after=1)]
            assert set(heard) <= {"audit,queues -", "audit,tenants -"}
        # A job's own way tells nobody, watched or not.
        [(job_type,)] = await (
            await live.owner.execute(
                'select postmill.register_job_types(\'[{"key": "Plain"}]\'::jsonb) is not null'
            )
        ).fetchall()
        assert job_type
        async for _ in ear.notifies(timeout=0.2):
            pass
        await live.owner.execute("select * from postmill.enqueue('Plain', '{}'::jsonb)")
        await live.ended("acme")
        assert [note.payload async for note in ear.notifies(timeout=0.2)] == []
        told = await live.owner.execute("delete from postmill.live_watch returning server, valid_until")
        watching = await told.fetchall()
        await live.audited("queues.pause", None)
        await live.round(Roller)
        await live.round(Monitor)
        own = [note.payload async for note in ear.notifies(timeout=0.2) if not note.payload.startswith("?")]
        assert own == []
        for row in watching:  # the server says it again in twenty seconds only
            await live.owner.execute(
                "insert into postmill.live_watch (server, valid_until) values (%s, %s)", row
            )


async def test_a_stream_is_let_in_like_a_page_and_ends_with_the_login(live: Live) -> None:
    acme, chief = await live.browser(Role.TENANT_ADMIN, "acme"), await live.browser(Role.AUDITOR)
    nobody = live.anybody()
    assert (await nobody.get("/ops/live")).status_code == 401
    for path in ("/ops/live", "/t/other/live", "/t/nope/live"):
        assert (await acme.get(path)).status_code == 404, path
    worker = await adrive(live.owner, create_key("w", Role.WORKER, tenant="acme"))
    answer = await nobody.get("/t/acme/live", headers={"Authorization": f"Bearer {worker.key}"})
    assert answer.status_code == 404
    async with following(chief, "/t/acme/live") as within:  # the platform's people see into a tenant
        await within.until("up")
    # A logout ends the person's streams at once, here and on other servers, which hear of it by the audit log.
    for path, telling in (("/logout", True), ("/api/v1/session", False)):
        leaving, colleague = (
            await live.browser(Role.OPERATOR, "acme"),
            await live.browser(Role.VIEWER, "acme"),
        )
        async with (
            following(leaving, "/t/acme/live") as stream,
            following(colleague, "/t/acme/live") as stays,
        ):
            await stream.until("up")
            await stays.until("up")
            token = csrf_token(leaving.cookies[COOKIE])
            same = {"Sec-Fetch-Site": "same-origin", "X-CSRF-Token": token}
            if telling:
                answer = await leaving.post(path, data={"csrf": token}, headers=same)
            else:
                answer = await leaving.delete(path, headers=same)
            assert answer.status_code in (204, 303), answer.text
            await asyncio.wait_for(stream.over.wait(), 20)
            assert stream.pings[-1] == ("over", 0)
            assert not stays.over.is_set()
    live.hub.heartbeat = live.hub.recheck = 0.1
    try:
        async with following(acme, "/t/acme/live") as stream, following(chief, "/ops/live") as stays:
            await stream.until("up")
            await aeventually(lambda: stream.comments >= 2)
            await live.owner.execute(
                "update postmill.console_session set ended_at = postmill.now() where tenant_id = %s",
                [live.tenants["acme"]],
            )
            await asyncio.wait_for(stream.over.wait(), 20)
            assert stream.pings[-1] == ("over", 0)
            assert (await acme.get("/t/acme/live")).status_code == 401
            before = stays.comments
            await aeventually(lambda: stays.comments > before)
            assert not stays.over.is_set()
    finally:
        live.hub.heartbeat, live.hub.recheck = 15.0, 60.0
    # So many of one, and the next one polls.
    await aeventually(lambda: not live.hub.streams)
    async with AsyncExitStack() as stack:
        for _ in range(8):
            await stack.enter_async_context(following(chief, "/ops/live"))
        full = await chief.get("/ops/live")
        assert (full.status_code, full.headers["retry-after"]) == (429, "60")


async def test_a_listener_that_was_lost_is_told_and_comes_back(live: Live) -> None:
    chief = await live.browser(Role.SUPER_ADMIN)
    async with following(chief, "/ops/live") as stream:
        await stream.until("up")
        before = len(stream.pings)
        await live.owner.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and application_name = 'postmill listener'"
        )
        await aeventually(
            lambda: [word for word, _ in stream.pings[before:] if word in ("up", "down")] == ["down", "up"]
        )
        assert await live.listeners() == 1
        await live.audited("budgets.set", None)
        await stream.until("budgets:ops")


async def test_streams_end_with_the_server(console_database: Database) -> None:
    async with serving(console_database) as live:
        chief = await live.browser(Role.SUPER_ADMIN)
        async with following(chief, "/ops/live") as one, following(chief, "/ops/live") as two:
            await one.until("up")
            await two.until("up")
            watched = await watchers(live)
            began = monotonic()
            live.server.drain()
            await asyncio.wait_for(asyncio.gather(one.over.wait(), two.over.wait(), live.serving), 20)
            assert monotonic() - began < 12
            assert await watchers(live) == watched - 1


async def watchers(live: Live) -> int:
    """Servers that say that somebody watches."""
    found = await (await live.owner.execute("select count(*) from postmill.live_watch")).fetchone()
    assert found is not None
    return int(found[0])


async def test_a_slow_browser_costs_no_memory() -> None:
    from postmill.console.live.stream import DOWN, UP, Stream

    stream = Stream("user x", None)
    for n in range(10_000):
        stream.put("jobs", str(uuid4()) if n % 100 == 0 else "ops", n)
        stream.say(UP if n % 2 else DOWN, n)
    assert len(stream._waiting) <= 102


async def test_the_parts_of_a_page_are_read_once(live: Live) -> None:
    """For all parts and all tabs of a person, until something is heard of; each person for himself."""
    chief, other = await live.browser(Role.SUPER_ADMIN), await live.browser(Role.PLATFORM_VIEWER)
    timings = live.app.state.timings

    def readings() -> int:
        return sum(one.n for one in timings.slowest(500) if one.name == "read_queues")

    async def shown(client: httpx.AsyncClient) -> str:
        answer = await client.get("/ops/queues?_part=list")
        assert answer.status_code == 200
        return answer.text

    async with following(chief, "/ops/live") as stream:
        await stream.until("up")
        await aeventually(lambda: live.hub.listening)

        async def shared() -> bool:
            """Three at once, however long it takes them; whatever else is heard of."""
            before = readings()
            told = await asyncio.gather(*(shown(chief) for _ in range(3)))
            return len({*told}) == 1 and readings() == before + 1

        await aeventually(shared)
        before = readings()
        await shown(other)
        assert readings() == before + 1
        await live.owner.execute("insert into postmill.queue (name) values ('brand-new')")
        await live.audited("queues.pause", None)
        await aeventually(lambda: _says(shown(chief), "brand-new"), what="the new queue")


async def test_a_part_whose_topics_are_quiet_costs_no_statement(live: Live) -> None:
    """Only to who has it, with the credentials by which it was given; and not once somebody has done something."""
    chief, other = await live.browser(Role.SUPER_ADMIN), await live.browser(Role.TENANT_ADMIN, "acme")
    pool = live.app.state.backend.pool

    def reads(*names: str) -> tuple[int, ...]:
        told = {one.name: one.n for one in live.app.state.timings.slowest(500)}
        return tuple(told.get(name, 0) for name in names)

    def looks() -> int:
        return int(pool.get_stats()["requests_num"])

    async def part(client: httpx.AsyncClient, path: str, tag: str) -> tuple[int, int]:
        """The answer's status, and how often the database was asked for it."""
        before = looks()
        answer = await client.get(path, headers={"If-None-Match": tag})
        return answer.status_code, looks() - before

    async with following(chief, "/ops/live") as stream:
        await stream.until("up")
        await aeventually(lambda: live.hub.listening)
        for client, path, topic, tenant in (
            (chief, "/ops?_part=changes", "audit", None),
            (other, "/t/acme?_part=bulk", "operations", "acme"),
        ):
            tag = ""

            async def known(client: httpx.AsyncClient = client, path: str = path) -> bool:
                nonlocal tag
                tag = (await client.get(path)).headers["etag"]
                return await part(client, path, tag) == (304, 0)

            await aeventually(known)  # whatever else is heard of
            assert (await part(client, path, '"other"'))[0] == 200
            assert (await part(live.anybody(), path, tag))[0] in (303, 401)
            stranger = other if client is chief else await live.browser(Role.VIEWER, "other")
            assert (await part(stranger, path, tag))[0] == 404
            heard = live.hub.heard_at
            await live.audited(f"{topic}.start", tenant)
            await aeventually(lambda heard=heard: live.hub.heard_at > heard)
            assert (await part(client, path, tag))[1] > 0
        # Of two parts that alone is read of whose topics something was heard: jobs ended, no operation began.
        both = "/t/acme?_part=states&_part=bulk"

        async def one_is_read() -> bool:
            tags = (await other.get(both)).headers["etag"]
            quiet = await part(other, both, tags)
            heard, before = live.hub.heard_at, reads("read_operations", "read_summary")
            await live.ended("acme")
            await live.round(Roller)
            await aeventually(lambda: live.hub.heard_at > heard)
            assert (await part(other, both, tags))[0] in (200, 304)
            after = reads("read_operations", "read_summary")
            return quiet == (304, 0) and after == (before[0], before[1] + 1)

        await aeventually(one_is_read)
        # A login that has ended has it no longer, here at once.
        await aeventually(known)
        token = csrf_token(other.cookies[COOKIE])
        cookies = dict(other.cookies)
        await other.post("/logout", data={"csrf": token}, headers={"Sec-Fetch-Site": "same-origin"})
        gone = live.anybody()
        gone.cookies.update(cookies)
        assert (await part(gone, path, tag))[0] in (303, 401)


async def _says(text: Awaitable[str], word: str) -> bool:
    return word in await text
