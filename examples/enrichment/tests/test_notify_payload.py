"""Seed 2's unit test “NOTIFY payload format”: a poke and no data, sent by the commit, and only to who sleeps."""

from __future__ import annotations

import re

from psycopg import AsyncConnection, Notify

from examples.enrichment.tests.app import App, working

CHANNEL = "postmill"
FORMAT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12} \d+ enrichment")
"""Lane, priority, queue: where to look, and nothing of what is there."""


async def heard(conn: AsyncConnection[object]) -> list[Notify]:
    """What has arrived for the queue by now. A notification of our own comes last, so that silence is certain."""
    await conn.execute("notify postmill, 'end of the test'")
    found = []
    async for notification in conn.notifies(timeout=10):
        if notification.payload == "end of the test":
            break
        if notification.payload.endswith(" enrichment"):
            found.append(notification)
    return found


async def listener(app: App) -> AsyncConnection[object]:
    """A connection that hears what workers hear."""
    conn = await AsyncConnection.connect(app.dsn, autocommit=True)
    await conn.execute("listen postmill")
    return conn


async def test_it_names_lane_priority_and_queue_and_carries_no_data(app: App) -> None:
    async with working(app.dsn, poll_interval=3600.0), await listener(app) as conn:
        await app.worker_asleep()
        created = await app.create()
        [notification] = await heard(conn)
    assert notification.channel == CHANNEL
    assert FORMAT.fullmatch(notification.payload)
    assert str(created.id) not in notification.payload
    assert len(notification.payload) < 8_000, "PostgreSQL takes no more"


async def test_the_commit_sends_it_and_a_rollback_does_not(app: App) -> None:
    async with working(app.dsn, poll_interval=3600.0), await listener(app) as conn:
        await app.worker_asleep()
        async with app.conn.transaction(force_rollback=True):
            await app.create()
        async with app.conn.transaction():
            await app.create()
            assert await heard(conn) == []
        assert len(await heard(conn)) == 1


async def test_several_items_of_one_transaction_ring_once(app: App) -> None:
    async with working(app.dsn, poll_interval=3600.0), await listener(app) as conn:
        await app.worker_asleep()
        async with app.conn.transaction():
            await app.create_many(["one text", "another text", "a third text"])
        assert len(await heard(conn)) == 1


async def test_nobody_sleeps_so_nobody_is_rung(app: App) -> None:
    async with await listener(app) as conn:
        await app.create()
        assert await heard(conn) == []


async def test_the_producer_can_leave_it_out(app: App) -> None:
    async with working(app.dsn, poll_interval=3600.0), await listener(app) as conn:
        await app.worker_asleep()
        await app.conn.execute("select set_config('postmill.notify', 'off', false)")
        await app.create()
        assert await heard(conn) == []
