"""A job reads what its own tenant has, and nothing else."""

from __future__ import annotations

from uuid import uuid4

import pytest

from postmill import Context, job
from postmill.domain.errors import NotFound
from postmill.domain.settings_artifacts import ArtifactSettings
from tests.artifacts.support import Conn, rows, succeeded
from tests.support.databases import Database
from tests.support.workers import enqueue, until, working


@job
async def reads(ctx: Context, reference: str) -> str:
    return (await ctx.artifacts.aread(reference)).decode()


@job
async def makes(ctx: Context) -> str:
    return (await ctx.artifacts.aput("secret", f"of {ctx.job.tenant_id}")).reference


@job(max_attempts=1)
async def refused(ctx: Context, reference: str) -> None:
    with pytest.raises(NotFound):
        await ctx.artifacts.aread(reference)
    with pytest.raises(NotFound):
        await ctx.artifacts.aread("secret")  # a name is the job's own only


async def test_two_tenants(database: Database, apg: Conn, store: ArtifactSettings) -> None:
    ada, bob = uuid4(), uuid4()
    for tenant in (ada, bob):
        await apg.execute(
            "insert into postmill.tenant (id, slug, name) values (%s, %s, 't')", [tenant, str(tenant)]
        )
    async with working(database.dsn, makes, reads, refused, artifacts=store):
        made = await enqueue(apg, "makes", tenant=ada)
        await until(lambda: succeeded(apg, made))
        ((reference,),) = await rows(
            apg, "select result #>> '{}' from postmill.outcome where job_id = %s", made
        )
        payload = f'{{"reference": "{reference}"}}'
        own = await enqueue(apg, "reads", payload, tenant=ada)
        other = await enqueue(apg, "refused", payload, tenant=bob)
        for id in (own, other):
            await until(lambda id=id: succeeded(apg, id))
    assert await rows(apg, "select result #>> '{}' from postmill.outcome where job_id = %s", own) == [
        (f"of {ada}",)
    ]
