"""Up to where history is settled: a reader below it never misses a commit that comes late, and is held up by nobody else."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from psycopg import AsyncConnection

from postmill.bind import adrive, arun
from postmill.operate.audit import history, settled
from postmill.store.audit import HistoryEvent, Position, advance_horizon
from tests.support.databases import Database
from tests.support.eventually import aeventually

pytestmark = pytest.mark.matrix

Conn = AsyncConnection[Any]

REGISTER = 'select * from postmill.register_job_types(\'[{"key": "t"}]\')'


async def now(conn: Conn) -> datetime:
    row = await (await conn.execute("select postmill.now()")).fetchone()
    assert row is not None
    moment: datetime = row[0]
    return moment


async def passes(conn: Conn, moment: datetime) -> None:
    """The horizon comes to lie behind a moment."""

    async def look() -> bool:
        return await arun(conn, advance_horizon()) > moment

    await aeventually(look, 10.0, "history settled")


async def stays(conn: Conn, moment: datetime) -> None:
    """It does not, although the clock goes on."""
    end = await now(conn) + timedelta(seconds=1.6)
    while await now(conn) < end:
        assert await arun(conn, advance_horizon()) <= moment


async def read(conn: Conn, after: Position | None = None) -> tuple[list[HistoryEvent], Position]:
    found: list[HistoryEvent] = []
    more = True
    while more:
        page = await adrive(conn, history(after, most=7))
        found += page.events
        after, more = page.next, page.more
    assert after is not None
    return found, after


async def test_it_follows_the_clock(apg: Conn) -> None:
    await passes(apg, await now(apg))


async def test_a_late_commit_is_not_missed(apg: Conn, database: Database) -> None:
    """A transaction that wrote first and commits last: the reader waits below it, and then has all in their order."""
    await apg.execute(REGISTER)
    async with await database.aconnect() as late, await database.aconnect() as reader:
        async with late.transaction():
            began = await now(late)
            await late.execute("select postmill.enqueue('t', '{\"n\": \"late\"}')")
            await late.execute("select postmill.audit('late', null, null)")
            await apg.execute("select postmill.enqueue('t', '{\"n\": \"quick\"}')")
            await apg.execute("select postmill.audit('quick', null, null)")
            await stays(reader, began)
            before, position = await read(reader)
            assert [event.event for event in before] == []
        end = await now(apg)
        await passes(reader, end)
        after, _ = await read(reader, position)
        assert sorted(event.event for event in after) == ["job.enqueued", "job.enqueued", "late", "quick"]
        assert [(e.recorded_at, e.key) for e in after] == sorted((e.recorded_at, e.key) for e in after)


async def test_a_statement_that_has_looked_at_the_clock_but_not_written_yet(
    apg: Conn, database: Database
) -> None:
    """It has no transaction id while it waits for a lock; its moment is before all that commits meanwhile."""
    await apg.execute(REGISTER)

    async with (
        await database.aconnect() as holder,
        await database.aconnect() as waiter,
        await database.aconnect() as reader,
    ):
        async with holder.transaction():
            await holder.execute("lock table postmill.ready in share row exclusive mode")
            began = await now(apg)
            task = asyncio.create_task(waiter.execute("select postmill.enqueue('t')"))

            async def waits() -> bool:
                row = await (await apg.execute("select count(*) from pg_locks where not granted")).fetchone()
                return row == (1,)

            await aeventually(waits)
            await stays(reader, await now(apg))
            assert began <= await now(apg)
        await task
        await passes(reader, await now(apg))
        events, _ = await read(reader)
        assert [event.event for event in events] == ["job.enqueued"]


async def test_reports_dumps_and_idle_readers_hold_up_nobody(apg: Conn, database: Database) -> None:
    """However long they last: a snapshot, a share lock as pg_dump takes it, a cursor."""
    async with await database.aconnect() as report, report.transaction():
        await report.execute("set transaction isolation level repeatable read")
        await report.execute("select count(*) from postmill.job")
        await report.execute("lock table postmill.outcome in access share mode")
        await passes(apg, await now(apg))


@pytest.mark.parametrize("end", ["commit prepared", "rollback prepared"])
async def test_a_prepared_transaction_is_waited_for(apg: Conn, database: Database, end: str) -> None:
    await apg.execute(REGISTER)
    async with await database.aconnect() as conn:
        await conn.execute("begin")
        await conn.execute("select set_config('postmill.notify', 'off', true)")
        await conn.execute("select postmill.enqueue('t')")
        await conn.execute("prepare transaction 'half'")
    held = await now(apg)
    await stays(apg, held)
    await apg.execute(f"{end} 'half'".encode())
    await passes(apg, await now(apg))
    events, _ = await read(apg)
    assert [event.event for event in events] == (["job.enqueued"] if end == "commit prepared" else [])


async def test_prepared_while_it_was_waited_for(apg: Conn, database: Database) -> None:
    """Its virtual id vanishes with PREPARE TRANSACTION, which is not its end."""
    await apg.execute(REGISTER)
    async with await database.aconnect() as conn:
        await conn.execute("begin")
        await conn.execute("select set_config('postmill.notify', 'off', true)")
        await conn.execute("select postmill.enqueue('t')")
        held = await now(apg)
        await arun(apg, advance_horizon())
        await arun(apg, advance_horizon())
        await conn.execute("prepare transaction 'half'")
    await stays(apg, held)
    await apg.execute("commit prepared 'half'")
    await passes(apg, await now(apg))
    assert [event.event for event in (await read(apg))[0]] == ["job.enqueued"]


async def test_patience(apg: Conn, database: Database) -> None:
    """An export waits until its own moment is settled, but not for ever."""
    moment = await now(apg)
    assert await adrive(apg, settled(patience=10.0)) >= moment
    async with await database.aconnect() as writer, writer.transaction():
        await writer.execute("select postmill.audit('open', null, null)")
        moment = await now(apg)
        assert await adrive(apg, settled(patience=0.3)) < moment
