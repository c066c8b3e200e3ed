"""A worker dies in the middle, or is too late: nothing of its file is seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from postmill import Context, job
from postmill.domain.errors import LeaseLost
from postmill.domain.settings_artifacts import ArtifactSettings
from tests.artifacts.handlers import slow
from tests.artifacts.support import Conn, files, rows, succeeded
from tests.support.databases import Database
from tests.support.eventually import eventually
from tests.support.fleet import WorkerProcess
from tests.support.workers import enqueue, until, working


async def test_a_death_in_the_middle_leaves_nothing_and_the_retry_succeeds(
    database: Database, apg: Conn, store: ArtifactSettings, folder: Path, tmp_path: Path
) -> None:
    flag = tmp_path / "in the middle"
    await apg.execute("""select * from postmill.register_job_types('[{"key": "slow"}]')""")
    id = await enqueue(apg, "slow", f'{{"flag": "{flag}"}}')
    worker = WorkerProcess(
        database.dsn,
        module="tests.artifacts.handlers",
        settings={"POSTMILL_ARTIFACTS__URL": str(store.address)},
    )
    try:
        eventually(flag.exists, 30)
        assert await rows(apg, "select * from postmill.artifact") == []
    finally:
        worker.kill()
    (half,) = files(folder)
    assert half.startswith("incoming/")
    await apg.execute("delete from postmill.lease")
    await apg.execute("insert into postmill.lease values (gen_random_uuid(), postmill.now() - interval '1 hour',"
                      " postmill.now() + interval '1 hour')")  # fmt: skip
    rescued = await rows(
        apg, "select r.verdict from postmill.lease l, postmill.rescue(l.holder, 30, 0, 10) r"
    )
    assert rescued == [("scheduled",)]
    async with working(database.dsn, slow, artifacts=store):
        await until(lambda: succeeded(apg, id))
    ((name, size, attempt),) = await rows(apg, "select name, size, attempt from postmill.artifacts")
    assert (name, size, attempt) == ("report.csv", (3 << 20) + 3, 2)
    assert len(files(folder)) == 2  # the half one goes with a round of upkeep


ENDED: list[UUID] = []


@job
async def robbed(ctx: Context, dsn: str) -> None:
    """Its ticket is somebody else's by the time that its file is whole."""
    with pytest.raises(LeaseLost):
        await ctx.artifacts.aput("late", late(dsn))
    with pytest.raises(LeaseLost):
        await ctx.artifacts.aput("never begun", b"x")
    ENDED.append(ctx.job.id)


async def late(dsn: str) -> Any:
    yield b"half"
    async with await Conn.connect(dsn, autocommit=True) as conn:
        await conn.execute(
            "with gone as (delete from postmill.running returning id, queue, lane, priority, attempt, run, lost)"
            " insert into postmill.blocked select * from gone"
        )
    yield b"whole"


@job
async def completing(ctx: Context, dsn: str) -> None:
    """While its completion waits for a commit nothing can be put: that would wait for ever."""
    async with await Conn.connect(dsn) as conn:
        await ctx.acomplete(conn)
        with pytest.raises(LeaseLost, match="being completed"):
            await ctx.artifacts.aput("late", b"x")
        await conn.commit()


async def test_a_late_worker_changes_nothing(
    database: Database, apg: Conn, store: ArtifactSettings, folder: Path
) -> None:
    async with working(database.dsn, robbed, completing, artifacts=store):
        id = await enqueue(apg, "completing", f'{{"dsn": "{database.dsn}"}}')
        await until(lambda: succeeded(apg, id))
        await enqueue(apg, "robbed", f'{{"dsn": "{database.dsn}"}}')
        await until(lambda: ENDED)
    assert await rows(apg, "select name from postmill.artifact") == []
    assert files(folder) == []
