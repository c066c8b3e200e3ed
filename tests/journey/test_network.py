"""The network between a worker and its database: half-open, cut at the worst moment, slow to answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from postmill.domain.job_type import job
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import ListenerLost, ListenerRestored, ReportMissed
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.proxy import Proxy, _Pipe
from tests.support.workers import enqueue, until, working

Conn = psycopg.AsyncConnection[Any]


@asynccontextmanager
async def proxied(database: Database) -> AsyncIterator[tuple[Proxy, str]]:
    """A proxy to the test's database, and the connection string that goes through it."""
    parts = conninfo_to_dict(database.dsn)
    socket = Path(str(parts["host"])) / f".s.PGSQL.{parts.get('port', 5432)}"
    async with Proxy(socket) as proxy:
        yield proxy, make_conninfo("", **parts | {"host": "127.0.0.1", "port": proxy.port})


async def latency(conn: Conn, started: list[float]) -> float:
    """Seconds from an enqueue to the start of its job."""
    n, sent = len(started), time.monotonic()
    await enqueue(conn, "ring")
    await until(lambda: len(started) > n, 30)
    return started[n] - sent


async def test_a_half_open_listener_is_found_out(database: Database, apg: Conn) -> None:
    """Case 13: neither FIN nor RST arrives. Latency is back below a second, and there is one listener again."""
    started: list[float] = []
    events: list[object] = []

    @job
    async def ring() -> None:
        started.append(time.monotonic())

    bus = Bus()
    bus.subscribe(events.append, ListenerLost, ListenerRestored)
    async with (
        proxied(database) as (proxy, dsn),
        working(dsn, ring, bus=bus, poll_interval=300.0, probe_every=1.0),
    ):
        assert await latency(apg, started) < 2
        proxy.hold("postmill listener")
        await apg.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and application_name = 'postmill listener'"
        )
        await until(lambda: any(isinstance(event, ListenerRestored) for event in events), 30)
        assert isinstance(events[0], ListenerLost)
        for _ in range(5):
            await asyncio.sleep(0.2)
            assert await latency(apg, started) < 1
        cursor = await apg.execute(
            "select count(*) from pg_stat_activity"
            " where datname = current_database() and application_name = 'postmill listener'"
        )
        assert await cursor.fetchone() == (1,)


async def test_a_killed_listener_comes_back_ten_times(database: Database, apg: Conn) -> None:
    """Case 15: after each loss a notification is seen end to end by the new connection."""
    started: list[float] = []

    @job
    async def ring() -> None:
        started.append(time.monotonic())

    async with working(database.dsn, ring, poll_interval=300.0, probe_every=0.5) as worker:
        await latency(apg, started)
        for n in range(10):
            await apg.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and application_name = 'postmill listener'"
            )
            await until(lambda n=n: worker.counters.reconnects > n, 20)
            assert await latency(apg, started) < 2


async def test_an_acknowledgement_cut_at_its_end_counts_once(database: Database, apg: Conn) -> None:
    """The server commits, the answer is lost: history is asked, and nothing happens twice or is missed."""
    ran: list[int] = []
    missed: list[object] = []

    @job
    async def count(n: int) -> int:
        ran.append(n)
        return n

    bus = Bus()
    bus.subscribe(missed.append, ReportMissed)
    async with proxied(database) as (proxy, dsn):
        loop = asyncio.get_running_loop()
        cuts: list[_Pipe] = []

        def cut(pipe: _Pipe, data: bytes) -> None:
            # A report is on its way to the server: let it arrive, swallow the answer, then cut.
            if (
                b"postmill report" in pipe.hello
                and len(pipe.hello) >= 512
                and not pipe.deaf
                and len(cuts) < 3
            ):
                pipe.deaf = True
                cuts.append(pipe)
                loop.call_later(0.05, pipe.reset)

        proxy.on_query = cut
        async with working(dsn, count, bus=bus, queues={"default": 3}):
            sent = 0
            while sent < 60 or len(cuts) < 3:
                await enqueue(apg, "count", f'{{"n": {sent}}}')
                sent += 1
                await asyncio.sleep(0.01)
            await until(lambda: len(ran) >= sent)
            await until(lambda: _outcomes(apg, sent))
    assert sorted(ran) == list(range(sent))
    assert missed == []
    with database.connect() as conn:
        invariants(conn)


async def test_a_claim_without_an_answer_is_given_back(database: Database, apg: Conn) -> None:
    """The server claims, the worker never hears of it, and its lease lives on: the tickets must not be stuck."""
    done: list[int] = []

    @job
    async def count(n: int) -> None:
        done.append(n)

    async with proxied(database) as (proxy, dsn):
        loop = asyncio.get_running_loop()
        cuts = 0

        def cut(pipe: _Pipe, data: bytes) -> None:
            nonlocal cuts
            if b"postmill claim" in pipe.hello and not pipe.deaf and b"claim" in data and cuts < 3:
                cuts += 1
                pipe.deaf = True
                loop.call_later(0.2, pipe.reset)

        async with working(dsn, count, lease=60.0, poll_interval=0.3):
            await enqueue(apg, "count", '{"n": -1}')
            await until(lambda: done == [-1])
            proxy.on_query = cut
            proxy.reset("postmill claim")  # the next connection prepares its statements anew, by their text
            for n in range(20):
                await enqueue(apg, "count", f'{{"n": {n}}}')
            await until(lambda: len(done) == 21, 30)
            assert cuts == 3
            await until(lambda: _outcomes(apg, 21), 30)
    assert sorted(done) == list(range(-1, 20))
    with database.connect() as conn:
        invariants(conn)


async def test_a_drain_while_a_claim_is_under_way_loses_nothing(database: Database, apg: Conn) -> None:
    """Case 5: the answer of the claim is held while the worker is told to drain."""

    @job
    async def ring() -> None: ...

    async with proxied(database) as (proxy, dsn):
        async with working(dsn, ring, lease=2.0):
            proxy.hold("postmill claim")
            for _ in range(20):
                await enqueue(apg, "ring")
            await asyncio.sleep(0.3)
            asyncio.get_running_loop().call_later(1.0, proxy.flow)
        async with working(database.dsn, ring, lease=2.0):
            await until(lambda: _outcomes(apg, 20), 30)
    with database.connect() as conn:
        invariants(conn, lease_seconds=2.0)


async def _outcomes(conn: Conn, n: int) -> bool:
    cursor = await conn.execute("select count(*) from postmill.outcome where status = 'succeeded'")
    row = await cursor.fetchone()
    return row == (n,)
