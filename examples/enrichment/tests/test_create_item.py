"""Phase 1: an item and its job are one transaction of the application's."""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest
import pytest_asyncio

from examples.enrichment.create_item import CreateItem
from examples.enrichment.jobs import enrich
from examples.enrichment.tests.app import TEXT, App
from examples.enrichment.tests.conftest import elsewhere
from postmill import aenqueue
from tests.support.databases import Database


@pytest_asyncio.fixture
async def app(database: Database) -> AsyncIterator[App]:
    """The application, without anybody who runs its jobs."""
    async with elsewhere(database) as made:
        yield made


async def test_a_created_item_is_enriching_and_its_job_pending(app: App) -> None:
    created = await app.create()
    item, job = await app.item(created), await app.outbox(created)
    assert (item["status"], item["job_id"], item["body"]) == ("ENRICHING", created.job_id, TEXT)
    assert (job["status"], job["item_id"], job["attempt_count"]) == ("PENDING", created.id, 0)


async def test_a_rollback_keeps_neither(app: App) -> None:
    async with app.conn.transaction(force_rollback=True):
        await app.create()
    assert await app.statuses() == {}
    assert await app.open_jobs() == 0


async def test_it_joins_the_callers_transaction(app: App) -> None:
    async with app.conn.transaction():
        created = await app.create()
        async with await psycopg.AsyncConnection.connect(app.dsn) as other:
            cursor = await other.execute(
                "select (select count(*) from items), (select count(*) from enrichment_outbox)"
            )
            assert await cursor.fetchone() == (0, 0), "nobody else sees it before the commit"
    assert (await app.item(created))["status"] == "ENRICHING"


async def test_nobody_ever_sees_an_item_without_its_job(app: App) -> None:
    """CAPTURED exists only inside the transaction; a stored item that is ENRICHING has its job by constraint."""
    await app.create()
    assert await app.statuses() == {"ENRICHING": 1}
    with pytest.raises(psycopg.errors.CheckViolation):
        await app.conn.execute(
            "insert into items (capture_id, status, source, body) values (%s, 'ENRICHING', '', '')",
            [app.capture_id],
        )


async def test_the_item_is_the_idempotency_key_of_its_job(app: App) -> None:
    created = await app.create()
    async with app.conn.transaction():
        again = await aenqueue(app.conn, enrich.new(item_id=created.id))
        other = await app.create()
    assert (again.id, again.created) == (created.job_id, False)
    assert other.job_id != created.job_id


async def test_an_item_with_a_text_that_cannot_be_stored_leaves_nothing(app: App) -> None:
    with pytest.raises(psycopg.DataError):
        await CreateItem(app.conn)(capture_id=app.capture_id, source="test", body="a\0b")
    assert await app.statuses() == {}
