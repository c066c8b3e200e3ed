"""Job types with a limit have lanes of their own, one per tenant: no enqueue waits for another's transaction on their
account, and tenants share a rate fairly."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from postmill.domain.job_type import job
from postmill.domain.lane import type_lane
from postmill.domain.limit import Rate
from postmill.engine.context import Context
from postmill.store.registration import register_job_types
from tests.support import sessions
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.workers import until, working

BIG, SMALL = UUID(int=100), UUID(int=200)
started: list[UUID] = []


@pytest.fixture(autouse=True)
def nothing_started() -> None:
    started.clear()


@job(rate=Rate(50, per=1.0, burst=1))
async def ask(ctx: Context) -> None:
    started.append(ctx.job.tenant_id)


@job(rate=Rate(50, per=1.0, burst=10))
async def ask_in_bursts(ctx: Context) -> None:
    started.append(ctx.job.tenant_id)


@job(worker_limit=1)
async def shoot(ctx: Context) -> None:
    started.append(ctx.job.tenant_id)


def register(conn: Connection[Any]) -> None:
    statement = register_job_types([ask, ask_in_bursts, shoot])
    sessions.rows(conn, "jobs/register_job_types", *statement.args)


def enqueue(conn: Connection[Any], job_type: str, tenant: UUID, n: int = 1) -> None:
    conn.execute(
        "select postmill.enqueue(%s, tenant => %s) from generate_series(1, %s)", (job_type, tenant, n)
    )


async def test_a_new_lane_of_a_limited_type_waits_for_nobody(database: Database, pg: Connection[Any]) -> None:
    """Two transactions enqueue the first job of the same lane; and a worker knows the lane's limit all the same."""
    register(pg)
    pg.execute("set lock_timeout = '500 ms'")
    with database.connect() as caller, caller.transaction():
        for job_type in ("ask", "shoot"):
            enqueue(caller, job_type, BIG)
            enqueue(pg, job_type, BIG)
        many = (
            "select id from postmill.enqueue_many('{ask, shoot}', '{\"{}\", \"{}\"}', array[%s, %s]::uuid[])"
        )
        caller.execute(many, (SMALL, SMALL))
        pg.execute(many, (SMALL, SMALL))
    assert {row[0] for row in pg.execute("select lane from postmill.ready").fetchall()} == {
        type_lane(tenant, name) for tenant in (BIG, SMALL) for name in ("ask", "shoot")
    }
    async with working(database.dsn, ask, shoot):
        await until(lambda: len(started) == 8)
    invariants(pg)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("job_type", "slack"), [(ask, 5), (ask_in_bursts, 12)])
async def test_tenants_share_a_rate(
    database: Database, pg: Connection[Any], job_type: Any, slack: int, workers: int
) -> None:
    """While both wait, neither gets more than its half, give or take a burst; first come, first served were all 60."""
    register(pg)
    enqueue(pg, job_type.name, BIG, 60)
    enqueue(pg, job_type.name, SMALL, 15)
    async with working(database.dsn, job_type), working(database.dsn, job_type, work=workers == 2):
        await until(lambda: started.count(SMALL) == 15)
    shares = Counter(started[: len(started) - started[::-1].index(SMALL)])
    assert shares[BIG] <= 15 + slack * workers
    invariants(pg)
