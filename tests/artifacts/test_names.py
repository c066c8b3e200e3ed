"""A job has one artifact of a name, whoever puts it and however often."""

from __future__ import annotations

import asyncio

from postmill import Constant, Context, job
from postmill.domain.settings_artifacts import ArtifactSettings
from tests.artifacts.support import Conn, rows, succeeded
from tests.support.databases import Database
from tests.support.workers import enqueue, until, working

AT_ONCE = Constant(0, jitter=(1, 1))


@job(retry=AT_ONCE, max_attempts=2)
async def again(ctx: Context) -> None:
    await ctx.artifacts.aput("report.csv", f"of attempt {ctx.attempt}")
    if ctx.attempt == 1:
        raise RuntimeError("after the file was there")


@job
async def rivals(ctx: Context) -> list[str]:
    """Eight puts of one name at once."""
    made = await asyncio.gather(*(ctx.artifacts.aput("one", f"{n}" * 1000) for n in range(8)))
    (left,) = await ctx.artifacts.alist()
    return [str(left.id), *(str(one.id) for one in made)]


async def test_one_name_one_artifact(database: Database, apg: Conn, store: ArtifactSettings) -> None:
    """A retry replaces what the attempt before it made; of several at once one stays."""
    async with working(database.dsn, again, rivals, artifacts=store):
        first, second = await enqueue(apg, "again"), await enqueue(apg, "rivals")
        for id in (first, second):
            await until(lambda id=id: succeeded(apg, id))
    assert await rows(apg, "select attempt, size from postmill.artifacts where job_id = %s", first) == [
        (2, 12)
    ]
    ((result,),) = await rows(apg, "select result from postmill.outcome where job_id = %s", second)
    assert result[0] in result[1:]
    assert await rows(apg, "select id::text from postmill.artifacts where job_id = %s", second) == [
        (result[0],)
    ]
