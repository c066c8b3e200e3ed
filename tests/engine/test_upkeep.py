"""Rounds of upkeep against a real database: promotion, rescue, retention."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import psycopg
import pytest

from postmill.domain.job_type import job
from tests.engine.test_outcomes import end, one
from tests.support.databases import Database
from tests.support.tickets import changed
from tests.support.workers import enqueue, until, working

pytestmark = pytest.mark.matrix

Conn = psycopg.AsyncConnection[Any]

REGISTER = (
    """select * from postmill.register_job_types('[{"key": "noop"}, {"key": "brief", "max_attempts": 1}]')"""
)


async def open_session(conn: Conn, *, since: str = "0 s", lease: float = 60.0) -> uuid.UUID:
    """A worker session as far as the database knows; `since` ages it."""
    holder = uuid.uuid4()
    await conn.execute("select set_config('postmill.clock_offset', %s, false)", (f"-{since}",))
    await conn.execute(
        "select postmill.open_session(%s, %s, 'test', 'host', 1, '', '{default}', '{}', '{}', '{}')",
        (holder, lease),
    )
    await conn.execute("select set_config('postmill.clock_offset', '', false)")
    return holder


async def claim(conn: Conn, holder: uuid.UUID, n: int = 100, claim_no: int = 1) -> list[Any]:
    """The claim of a worker that knows one lane, from the head."""
    cursor = await conn.execute(
        """select id, attempt, lost, job_type from postmill.claim(%s, %s, %s, '{default}',
           array['00000000-0000-0000-0000-000000000001'::uuid], '{100}', array[null::timestamptz], array[%s])""",
        (holder, claim_no, n, n),
    )
    return list(await cursor.fetchall())


async def many(conn: Conn, sql: str, *args: Any) -> list[Any]:
    return list(await (await conn.execute(sql, args)).fetchall())


async def test_a_claim_needs_a_live_lease(apg: Conn) -> None:
    await apg.execute(REGISTER)
    await enqueue(apg, "noop")
    assert await claim(apg, uuid.uuid4()) == []
    ended = await open_session(apg, since="2 min")
    assert await claim(apg, ended) == []
    assert len(await claim(apg, await open_session(apg))) == 1


async def test_rescue_gives_back_buries_and_cancels(apg: Conn) -> None:
    await apg.execute(REGISTER)
    back, spent, unwanted = [await enqueue(apg, name) for name in ("noop", "brief", "noop")]
    dead = await open_session(apg)
    assert len(await claim(apg, dead)) == 3
    await apg.execute("select * from postmill.cancel_jobs(%s)", ([unwanted],))
    await apg.execute("delete from postmill.lease")
    rescuer = await open_session(apg, since="50 s")
    rows = await many(apg, "select id, verdict from postmill.rescue(%s, 30, 0, 100)", rescuer)
    assert dict(rows) == {back: "scheduled", spent: "dead_letter", unwanted: "canceled"}
    assert await many(apg, "select id, attempt, lost from postmill.scheduled") == [(back, 2, 1)]
    assert await many(apg, "select id, reason from postmill.dead_letter") == [(spent, "worker_lost")]
    assert await many(apg, "select job_id, status from postmill.outcome") == [(unwanted, "canceled")]
    assert await one(apg, "select count(*) from postmill.running") == 0


async def test_who_was_away_itself_rescues_nobody(apg: Conn) -> None:
    await apg.execute(REGISTER)
    await enqueue(apg, "noop")
    await claim(apg, await open_session(apg))
    await apg.execute("delete from postmill.lease")
    young = await open_session(apg)
    assert await many(apg, "select * from postmill.rescue(%s, 30, 0, 100)", young) == []


async def test_a_late_worker_changes_nothing(apg: Conn) -> None:
    """Every report of a holder whose ticket was taken away answers the id and leaves the row alone."""
    await apg.execute(REGISTER)
    await enqueue(apg, "noop")
    ghost, owner = await open_session(apg), await open_session(apg)
    ((id, *_),) = await claim(apg, ghost)
    await apg.execute(
        changed("running", "jsonb_build_object('holder', %s::uuid, 'claim_no', 7)", "true"), (owner,)
    )
    tenant = uuid.UUID(int=1)
    head = (ghost, [id], [1], [tenant], [0])
    reports = (
        ("select * from postmill.complete(%s, %s, %s, %s, %s)", head),
        ("select * from postmill.put_back(%s, %s, %s, %s, %s, '{failed}', '{1}')", head),
        ("select * from postmill.finish(%s, %s, %s, %s, %s, '{failed}', '{failed}', '{x}')", head),
        ("select * from postmill.bury(%s, %s, %s, %s, %s, '{failed}', '{x}')", head),
        ("select * from postmill.complete_forgotten(%s, %s, %s, 'noop')", (ghost, [id], [1])),
        ("select * from postmill.complete(%s, %s, %s, %s, %s)", (owner, [id], [6], [tenant], [0])),
    )
    for sql, args in reports:
        assert await many(apg, sql, *args) == [(id,)]
    assert await many(apg, "select id, holder, claim_no from postmill.running") == [(id, owner, 7)]
    assert await one(apg, "select count(*) from postmill.outcome") == 0


@pytest.mark.parametrize("n", [1, 6000])
async def test_promotion_moves_what_is_due_and_nothing_else(apg: Conn, n: int) -> None:
    await apg.execute(REGISTER)
    later = await enqueue(apg, "noop", delay="1 hour")
    await apg.execute("select postmill.enqueue('noop', delay => '1 ms') from generate_series(1, %s)", (n,))
    tenants = [uuid.uuid4() for _ in range(3)]
    for tenant in tenants:
        await enqueue(apg, "noop", delay="1 ms", tenant=tenant)
    await asyncio.sleep(0.01)
    first = await many(apg, "select lane, n from postmill.promote(null, 500, 5000)")
    assert {lane for lane, _ in first} >= set(tenants)  # a hog delays no small lane
    while await many(apg, "select n from postmill.promote(null, 500, 5000)"):
        pass
    assert await many(apg, "select id from postmill.scheduled") == [(later,)]
    assert await one(apg, "select count(*) from postmill.ready") == n + 3


async def test_retention_drops_partitions_and_keeps_what_still_lives(database: Database, apg: Conn) -> None:
    ran: list[str] = []

    @job
    async def noop(who: str = "") -> None:
        ran.append(who)

    await apg.execute(REGISTER)
    await apg.execute("update postmill.partition_policy set width = '2 days', retention = '6 days'")
    await apg.execute("select set_config('postmill.clock_offset', '-30 days', false)")
    await apg.execute("select postmill.ensure_partitions(postmill.now())")
    waiting = await enqueue(apg, "noop", '{"who": "old"}', delay="30 days")
    holder = await open_session(apg)
    await apg.execute("select set_config('postmill.clock_offset', '-30 days', false)")
    for _ in range(5):
        await enqueue(apg, "noop")
    await apg.execute("update postmill.lease set expires_at = 'infinity'")
    rows = await claim(apg, holder)
    assert len(rows) == 5
    ids = [row[0] for row in rows]
    await apg.execute(
        "select * from postmill.complete(%s, %s, %s, %s, %s)",
        (holder, ids, [1] * 5, [uuid.UUID(int=1)] * 5, [0] * 5),
    )
    await apg.execute("select set_config('postmill.clock_offset', '', false)")
    before = await one(apg, "select count(*) from postmill.partition")
    while await many(apg, "select * from postmill.prune_partition()"):
        pass
    assert await one(apg, "select count(*) from postmill.partition") < before
    assert await one(apg, "select count(*) from postmill.outcome") == 0
    assert await many(apg, "select id from postmill.job_kept") == [(waiting,)]
    async with working(database.dsn, noop):
        await until(lambda: ran == ["old"])
        await end(apg, waiting, "succeeded")
        fresh = await enqueue(apg, "noop", '{"who": "new"}')
        await end(apg, fresh, "succeeded")


async def test_a_drop_waits_for_nobody(database: Database, apg: Conn) -> None:
    """With a reader in the parent table the round gives up within its 50 ms, and an enqueue goes on meanwhile."""
    await apg.execute(REGISTER)
    await apg.execute("update postmill.partition_policy set width = '5 days', retention = '6 days'")
    await apg.execute("select postmill.ensure_partitions(postmill.now() - interval '40 days')")
    async with await database.aconnect() as reader, reader.transaction():
        await reader.execute("select count(*) from postmill.job")
        rows = await many(apg, "select status from postmill.prune_partition()")
        assert rows == [("busy",)]
        await enqueue(apg, "noop")
    assert await many(apg, "select status from postmill.prune_partition()") == [("dropped",)]


async def test_an_abandoned_database_still_takes_jobs(apg: Conn) -> None:
    """Nobody made partitions for a year; the body is kept beside them, and a report makes its own."""
    await apg.execute(REGISTER)
    holder = await open_session(apg)
    await apg.execute("update postmill.lease set expires_at = 'infinity'")
    await apg.execute("select set_config('postmill.clock_offset', '370 days', false)")
    id = await enqueue(apg, "noop")
    assert [row[0] for row in await claim(apg, holder)] == [id]
    await apg.execute("select set_config('postmill.clock_offset', '800 days', false)")
    args = (holder, [id], [1], [uuid.UUID(int=1)], [0])
    assert await many(apg, "select * from postmill.complete(%s, %s, %s, %s, %s)", *args) == []
    assert await one(apg, "select status from postmill.outcome") == "succeeded"


async def test_doubtful_claims_are_given_back(apg: Conn) -> None:
    await apg.execute(REGISTER)
    await enqueue(apg, "noop")
    holder = await open_session(apg)
    await claim(apg, holder, claim_no=5)
    assert len(await many(apg, "select id from postmill.release_claims(%s, '{4}')", holder)) == 0
    assert len(await many(apg, "select id from postmill.release_claims(%s, '{5}')", holder)) == 1
    ((_, attempt, lost, _),) = await claim(apg, holder, claim_no=6)
    assert (attempt, lost) == (1, 0)
