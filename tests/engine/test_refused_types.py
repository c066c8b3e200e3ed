"""A queue whose workers do not know the same job types: who does not know one puts its job back once, for those that do."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg import Connection

from postmill import Constant, job
from postmill.bind import adrive, run
from postmill.console.jobs.lines import waits_for
from postmill.engine.context import Context
from postmill.engine.worker import Worker
from postmill.operate import commands, why
from postmill.store.waits import read_waits
from tests.support import sessions
from tests.support.databases import Database
from tests.support.eventually import eventually
from tests.support.fleet import fleet
from tests.support.invariants import invariants
from tests.support.workers import enqueue, state, until, working

APg = psycopg.AsyncConnection[Any]

BIG, SMALL = UUID(int=100), UUID(int=200)
APP = "from postmill import job\n\n\n@job\nasync def {0}(n: int = 0) -> None: ...\n"
COUNTED = """
    create table put (id uuid, lane uuid);
    create function note() returns trigger language plpgsql as
        'begin insert into public.put values (new.id, new.lane); return null; end';
    create trigger put after insert on postmill.ready for each row execute function note()"""
"""How often each ticket came to be ready: once by its enqueue, and once more for each time that it was put back."""


@job
async def other() -> None: ...


def test_two_processes_of_two_applications_on_one_queue(
    database: Database, pg: Connection[Any], tmp_path: Path
) -> None:
    for name in ("left", "right"):
        (tmp_path / f"{name}.py").write_text(APP.format(name))
    pg.execute(COUNTED)
    with fleet(database.dsn, tmp_path / "workers.log") as workers:
        for name in ("left", "right"):
            workers.start("--queues", "default=4", module=str(tmp_path / f"{name}.py"))
        workers.ready(pg, 2)
        for name in ("left", "right"):
            pg.execute("select postmill.enqueue(%s) from generate_series(1, 100)", [name])
        eventually(lambda: sessions.one(pg, "select count(*) from postmill.outcome") == 200, 60)
        # One after the other, while both sleep and either may be the one that is rung.
        for n in range(4):
            name = ("left", "right")[n % 2]
            (id,) = sessions.one(pg, "select array[postmill.enqueue(%s)]", name)
            eventually(lambda id=id: sessions.one(pg, "select 1 from postmill.outcome where job_id = %s", id))
    ((most,),) = pg.execute("select max(n) from (select count(*) as n from put group by id) x").fetchall()
    assert most == 2
    assert sessions.one(pg, "select count(*) from postmill.outcome where status = 'succeeded'") == 204
    invariants(pg)


async def test_nobody_knows_it_until_somebody_does(database: Database, apg: APg, pg: Connection[Any]) -> None:
    """Under a limit and for two tenants; it is the ignorant one that watches, and no worker would look by itself."""
    started: list[UUID] = []
    ran: list[UUID] = []
    busy = [0, 0]

    @job(max_attempts=2, retry=Constant(3600))
    async def late(ctx: Context) -> None:
        busy[0] += 1
        busy[1] = max(busy)
        await asyncio.sleep(0.005)
        busy[0] -= 1
        started.append(ctx.job.tenant_id)
        if ctx.job.tenant_id not in (BIG, SMALL) and ctx.job.attempt == 1:
            raise RuntimeError("once more, when this worker sleeps")
        ran.append(ctx.job.tenant_id)

    pg.execute("""select * from postmill.register_job_types('[{"key": "late", "max_attempts": 2}]')""")
    pg.execute(
        "insert into postmill.tenant (id, slug, name) select t, t, t from unnest(%s) t", [[BIG, SMALL]]
    )
    async with working(database.dsn, other, poll_interval=60.0, upkeep=False) as ignorant:
        ids = [await enqueue(apg, "late", tenant=tenant) for tenant in [BIG] * 60 + [SMALL]]
        await until(lambda: ignorant.counters.reports == len(ids))
        codes = {one.code: one.text for one in (await adrive(apg, why.why(ids[0]))).reasons}
        assert codes["put_back"] == f"put back by worker {ignorant.worker_id}, which does not know late"
        assert codes["no_worker_for_type"] == "1 live worker of queue default, none serves late"
        assert {waits_for(wait) for wait in run(pg, read_waits(ids)).values()} == {
            "no live worker knows its type"
        }
        assert swept(pg) == 1, "its jobs wait"
        pg.execute("select postmill.door_set_limit('type', 'late', '{}', 2, null)")
        slots = {"default": 4}
        async with working(database.dsn, late, queues=slots, poll_interval=60.0, upkeep=False) as knowing:
            holder = getattr(ignorant.session(), "holder", None)
            await until(lambda: len(ran) == len(ids))
            assert busy[1] == 2
            assert started.index(SMALL) < 30, "its lane has its turns"
            await until(lambda: sleep(ignorant, knowing))
            last = await enqueue(apg, "late")
            await until(lambda: len(started) == len(ids) + 1 and sleep(ignorant, knowing))
            assert sessions.one(pg, "select holder from postmill.sleeper where watch") == holder
            assert [one.status for one in await adrive(apg, commands.retry([last]))] == ["due"]
            await until(lambda: len(ran) == len(ids) + 1)
            assert await state(apg, last) in ("running", "succeeded")
        assert ignorant.counters.reports <= len(ids) + 1
    assert swept(pg) == 0
    invariants(pg)


def sleep(*workers: Worker) -> bool:
    """Whether these look for nothing until they are rung."""
    bells = [worker._shop.doorbell for worker in workers if worker._shop is not None]
    beds = [bell.bed("default") for bell in bells]
    return all(bell._closing is not None and bell._closing.done() for bell in bells) and all(
        bed.lying and not bed.owed for bed in beds
    )


def swept(conn: Connection[Any]) -> int:
    """How many refused types are left when the hour is over."""
    conn.execute("update postmill.refused_type set refused_at = '-infinity'")
    conn.execute("select postmill.sweep(1000)")
    return int(sessions.one(conn, "select count(*) from postmill.refused_type"))
