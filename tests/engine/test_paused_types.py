"""A paused job type does not start, others of its queue go on; what was held back is back at once when it is resumed."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import AsyncConnection, Connection

from postmill.bind import adrive
from postmill.domain.errors import UnknownJobType
from postmill.domain.job_type import job
from postmill.operate.pausing import pause_type, paused_types, resume_type
from postmill.operate.why import why
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.workers import state, until, working

ran: Counter[str] = Counter()


@job("charge", aliases=["bill"])
async def charge() -> None:
    ran["charge"] += 1


@job("mail")
async def mail() -> None:
    ran["mail"] += 1


async def enqueue(conn: AsyncConnection[Any], *types: str, n: int = 1) -> list[Any]:
    made = []
    for one in types * n:
        row = await (await conn.execute("select postmill.enqueue(%s)", [one])).fetchone()
        assert row is not None
        made.append(row[0])
    return made


async def held(conn: AsyncConnection[Any]) -> int:
    row = await (
        await conn.execute(
            "select count(*) from postmill.scheduled s join postmill.type_pause p on p.held_until = s.run_at"
        )
    ).fetchone()
    assert row is not None
    n: int = row[0]
    return n


async def test_a_paused_type_is_held_and_comes_back(
    database: Database, apg: AsyncConnection[Any], pg: Connection[Any]
) -> None:
    ran.clear()
    async with working(database.dsn, charge, mail, queues={"default": 2}) as worker:
        with pytest.raises(UnknownJobType, match=r"did you mean.*charge"):
            await adrive(apg, pause_type("chrage"))
        assert await adrive(apg, pause_type("bill", reason="fails since v42", actor="ada")) == "charge"
        (one,) = await adrive(apg, paused_types())
        assert (one.job_type, one.paused_by, one.reason, one.resume_at) == (
            "charge",
            "ada",
            "fails since v42",
            None,
        )
        shop = worker._shop
        assert shop is not None
        await until(lambda: shop.executor.paused_types == {"charge", "bill"})
        ids = await enqueue(apg, "charge", "mail", n=30)

        async def settled() -> bool:
            return ran["mail"] == 30 and await held(apg) == 30

        await until(settled)
        assert ran["charge"] == 0
        assert await state(apg, ids[0]) == "scheduled"
        told = await adrive(apg, why(ids[0]))
        assert (told.reasons[0].code, told.reasons[0].text) == (
            "type_paused",
            "job type charge is paused: fails since v42",
        )
        invariants(pg)

        assert await adrive(apg, resume_type("charge")) == "charge"

        async def all_well() -> bool:
            """Each at its first attempt."""
            found = await apg.execute(
                "select attempt, count(*) from postmill.outcome where status = 'succeeded' group by 1"
            )
            return await found.fetchall() == [(1, 60)]

        await until(all_well)
        assert ran["charge"] == 30
        assert await adrive(apg, paused_types()) == []

        # One that ends by itself, with a new worker that must know of it before its first claim.
        soon = datetime.now(UTC) + timedelta(seconds=1.2)
        await adrive(apg, pause_type("charge", reason="a moment", resume_at=soon))
        await until(lambda: bool(shop.executor.paused_types))
    await enqueue(apg, "charge", n=5)
    async with working(database.dsn, charge, mail, queues={"default": 2}):
        await until(lambda: ran["charge"] == 35)
        assert datetime.now(UTC) >= soon
    acts = await (
        await apg.execute(
            "select action, reason from postmill.audit_log where action like 'types.%' order by id"
        )
    ).fetchall()
    assert acts == [("types.pause", "fails since v42"), ("types.resume", None), ("types.pause", "a moment")]


async def test_many_held_ones_come_back_in_parts(database: Database, apg: AsyncConnection[Any]) -> None:
    """What resuming itself does not bring back, the rounds of upkeep do; a ticket put back meanwhile is due at once."""
    await apg.execute("""select * from postmill.register_job_types('[{"key": "charge"}]')""")
    await adrive(apg, pause_type("charge"))
    await enqueue(apg, "charge", n=1)
    await apg.execute(
        "with gone as (delete from postmill.ready returning *), pause as (select held_until as at from postmill.type_pause)"
        " insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)"
        " select g.queue, g.lane, p.at, i.id, 100, 1, 0, 0 from gone g, pause p,"
        " lateral (select g.id union all select gen_random_uuid() from generate_series(1, 1499)) i(id)"
    )
    await adrive(apg, resume_type("charge"))
    row = await (await apg.execute("select count(*) from postmill.ready")).fetchone()
    assert row == (1000,)
    row = await (await apg.execute("select postmill.release_held(20000)")).fetchone()
    assert row == (500,)
    row = await (
        await apg.execute(
            "select (select count(*) from postmill.ready), (select count(*) from postmill.scheduled), released_at is not null,"
            " postmill.held_until((select id from postmill.ready limit 1), '2031-01-01Z') from postmill.type_pause"
        )
    ).fetchone()
    assert row == (1500, 0, True, datetime(2031, 1, 1, tzinfo=UTC))
