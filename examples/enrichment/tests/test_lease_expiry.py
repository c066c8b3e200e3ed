"""Seed 2's unit test “lease expiry logic”, by the server's clock moved on for one connection at a time."""

from __future__ import annotations

from uuid import UUID, uuid4

from examples.enrichment.create_item import CreatedItem
from examples.enrichment.tests.app import App

TENANT = UUID("00000000-0000-0000-0000-000000000001")
LEASE = 300.0
"""Seconds: the seed's five minutes."""


async def at(app: App, seconds: float) -> None:
    """Set the clock of the test's connection so many seconds ahead."""
    await app.conn.execute("select set_config('postmill.clock_offset', %s, false)", [f"{seconds} s"])


async def session(app: App, seconds: float) -> UUID:
    """A worker session with a lease of so many seconds."""
    holder = uuid4()
    await app.conn.execute(
        "select postmill.open_session(%s, %s, 'worker', 'host', 1, '', array['enrichment'], '{}', '{}', '{}')",
        [holder, seconds],
    )
    return holder


async def claimed(app: App) -> tuple[CreatedItem, UUID]:
    """An item whose job is claimed by a session that will not be heard of again, at second 0."""
    created = await app.create()
    holder = await session(app, LEASE)
    cursor = await app.conn.execute(
        "select id from postmill.claim(%s, 1, 1, array['enrichment'], array[%s::uuid], array[100], null, array[1])",
        [holder, TENANT],
    )
    assert await cursor.fetchall() == [(created.job_id,)]
    return created, holder


async def rescued(app: App, rescuer: UUID) -> list[UUID]:
    """One round of the reaper."""
    cursor = await app.conn.execute("select id from postmill.rescue(%s, %s, 0, 100)", [rescuer, LEASE])
    return [id for (id,) in await cursor.fetchall()]


async def renewed(app: App, holder: UUID) -> bool:
    cursor = await app.conn.execute("select postmill.renew(%s, %s, 1, false)", [holder, LEASE])
    row = await cursor.fetchone()
    return bool(row and row[0])


async def watching(app: App) -> UUID:
    """A session that has lived long enough to rescue others."""
    await at(app, -2 * LEASE)
    rescuer = await session(app, 100 * LEASE)
    await at(app, 0)
    return rescuer


async def test_it_lasts_five_minutes_and_not_a_second_more(app: App) -> None:
    rescuer = await watching(app)
    created, _ = await claimed(app)
    await at(app, LEASE - 1)
    assert await rescued(app, rescuer) == []
    await at(app, LEASE + 1)
    assert await rescued(app, rescuer) == [created.job_id]
    row = await app.outbox(created)
    assert (row["status"], row["attempt_count"], row["locked_by"]) == ("PENDING", 1, None)


async def test_renewal_makes_it_last(app: App) -> None:
    rescuer = await watching(app)
    created, holder = await claimed(app)
    await at(app, LEASE - 1)
    assert await renewed(app, holder)
    await at(app, LEASE + 1)
    assert await rescued(app, rescuer) == []
    await at(app, 2 * LEASE)
    assert await rescued(app, rescuer) == [created.job_id]


async def test_what_has_ended_cannot_be_renewed_and_a_late_worker_changes_nothing(app: App) -> None:
    rescuer = await watching(app)
    created, holder = await claimed(app)
    await at(app, LEASE + 1)
    assert not await renewed(app, holder)
    assert await rescued(app, rescuer) == [created.job_id]
    before = await app.outbox(created)
    cursor = await app.conn.execute(
        "select * from postmill.complete(%s, %s, array[1::bigint], %s, array[0::bigint])",
        [holder, [created.job_id], [TENANT]],
    )
    assert await cursor.fetchall() == [(created.job_id,)], "it is told which reports were not taken"
    assert await app.outbox(created) == before


async def test_who_was_away_itself_rescues_nobody(app: App) -> None:
    """After an outage of the database all leases are over; whoever comes first must not take everything."""
    await claimed(app)
    await at(app, LEASE + 1)
    newcomer = await session(app, LEASE)
    assert await rescued(app, newcomer) == []
