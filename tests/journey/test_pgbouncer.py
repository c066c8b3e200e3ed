"""Everything through a real pgbouncer in transaction mode, with fewer connections than we open."""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from postmill import AsyncClient, Client, Context, job
from postmill.cli.database import open_connection
from postmill.operate.doctor.pooling import bears_prepared
from tests.cli.support import cli
from tests.engine.test_upkeep import claim, open_session
from tests.support.databases import Database
from tests.support.pgbouncer import pooled
from tests.support.workers import enqueue, state, until, working

Conn = psycopg.AsyncConnection[Any]
STARTED: list[str] = []


@job
async def coroutine(ctx: Context, n: int = 0) -> int:
    async with ctx.transaction() as tx:
        for _ in range(10):
            await tx.execute("select 1")
        await tx.execute("insert into effect values ('coroutine')")
        tx.result = n
    return n


@job
def function(ctx: Context) -> None:
    with ctx.transaction() as tx:
        for _ in range(10):
            tx.execute("select 1")
        tx.execute("insert into effect values ('function')")


@job(isolation="process")
def child(ctx: Context) -> None:
    with ctx.transaction() as tx:
        for _ in range(10):
            tx.execute("select 1")
        tx.execute("insert into effect values ('child')")


@job
async def own(ctx: Context) -> None:
    async with await psycopg.AsyncConnection.connect(
        os.environ["POOLED_DSN"], prepare_threshold=None
    ) as conn:
        await ctx.acomplete(conn)


@job
async def forever() -> None:
    STARTED.append("forever")
    await asyncio.Event().wait()


def prepared(dsn: str, size: int) -> list[str]:
    """What is prepared on any of the pooler's connections to the server."""
    with ExitStack() as stack:
        conns = [stack.enter_context(psycopg.connect(dsn, prepare_threshold=None)) for _ in range(size)]
        rows = [conn.execute("select statement from pg_prepared_statements").fetchall() for conn in conns]
        return [text for found in rows for (text,) in found]


async def test_jobs_run_are_canceled_paused_and_rescued(
    database: Database, apg: Conn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await apg.execute("create table effect (who text)")
    with (
        pooled(database, tmp_path, size=3) as dsn,
        Client(dsn, prepared_statements=False) as client,
    ):
        monkeypatch.setenv("POOLED_DSN", dsn)

        async def ended(*ids: Any, how: str = "succeeded") -> None:
            async def all_of_them() -> bool:
                return all([await state(apg, id) == how for id in ids])

            await until(all_of_them, 30)

        await asyncio.to_thread(client.register, [coroutine])
        lost = (await asyncio.to_thread(client.enqueue, coroutine.new(1))).id
        assert len(await claim(apg, await open_session(apg))) == 1
        await apg.execute("delete from postmill.lease")
        async with (
            AsyncClient(dsn, prepared_statements=False) as aclient,
            working(
                dsn, coroutine, function, child, own, forever,
                queues={"default": 5}, lease=1.5, prepared=False, listen_dsn=database.dsn,
            ) as worker,
        ):  # fmt: skip
            await ended(lost)
            # Often enough that a client that may prepare would do so.
            made = [(await aclient.enqueue(coroutine.new(n))).id for n in range(20)]
            made += [(await asyncio.to_thread(client.enqueue, function.new())).id for _ in range(20)]
            made += [one.id for one in await aclient.enqueue_many([child.new(), own.new()])]
            await ended(*made)

            running = (await aclient.enqueue(forever.new())).id
            await until(lambda: STARTED)
            await aclient.cancel(running)
            await ended(running, how="canceled")

            await apg.execute("select postmill.pause_queue('default', 'test')")
            await until(lambda: worker._shop.claimer.paused)  # type: ignore[union-attr]
            waiting = await enqueue(apg, "coroutine")
            assert await state(apg, waiting) == "queued"
            await apg.execute("select postmill.resume_queue('default')")
            await ended(waiting)

            for _ in range(8):
                renewed = worker.counters.lease_renewals
                worker.heard("!")
                await until(lambda renewed=renewed: worker.counters.lease_renewals > renewed)
            assert await asyncio.to_thread(prepared, dsn, 3) == []
    cursor = await apg.execute("select who, count(*) from effect group by 1 order by 1")
    assert await cursor.fetchall() == [("child", 1), ("coroutine", 22), ("function", 20)]


def test_the_doctor_says_what_to_set(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def found(dsn: str, **env: str) -> dict[str, dict[str, Any]]:
        answer = cli("doctor", "--json", dsn=dsn, env=env)
        return {check["check"]: check for check in answer.json["checks"]}

    with pooled(database, tmp_path) as dsn:
        told = found(dsn)
        assert (told["pooler"]["level"], told["listen"]["level"]) == ("fail", "warn")
        assert "prepared_statements = false" in told["pooler"]["advice"]
        assert "set listen_url" in told["listen"]["advice"]
        off = {"POSTMILL_PREPARED_STATEMENTS": "false"}
        told = found(dsn, POSTMILL_LISTEN_URL=dsn, **off)
        assert (told["pooler"]["level"], told["listen"]["level"]) == ("ok", "warn")
        told = found(dsn, POSTMILL_LISTEN_URL=database.dsn, **off)
        assert {name for name, check in told.items() if check["level"] != "ok"} == {"workers"}
        assert "transaction mode" in told["pooler"]["summary"]
    with pooled(database, tmp_path, mode="session") as dsn:
        told = found(dsn)
        assert (told["pooler"]["level"], told["listen"]["level"]) == ("ok", "ok")
        assert "session mode" in told["pooler"]["summary"]
        with open_connection(dsn) as one, open_connection(dsn) as other:
            assert bears_prepared(one, other)


def test_clients_obey_the_setting(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With it on, the second of two clients meets what the first has prepared."""
    monkeypatch.chdir(tmp_path)

    def use(dsn: str) -> None:
        with Client(dsn) as one, Client(dsn) as other:
            one.register([coroutine])
            for n in range(30):  # a pool has two connections at first, and either must come to prepare
                one.enqueue(coroutine.new(n))
                other.enqueue(coroutine.new(n))

    with pooled(database, tmp_path, size=1) as dsn:
        with pytest.raises(psycopg.Error, match="prepared statement"):
            use(dsn)
        (tmp_path / "postmill.toml").write_text("prepared_statements = false\n")
        use(dsn)
