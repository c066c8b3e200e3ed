"""The whole application with real processes, on good days and on bad ones. Each test ends with the invariants."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from psycopg import AsyncConnection

from examples.enrichment.create_item import CreatedItem
from examples.enrichment.discard_item import DiscardItem
from examples.enrichment.jobs import enrich
from examples.enrichment.tests.app import TEXT, App, until
from examples.enrichment.tests.conftest import elsewhere, prepare
from examples.enrichment.tests.fleet import fleet, holds
from examples.enrichment.texts.gather import gather
from examples.upstreams.script import Script
from postmill import aenqueue_many
from postmill.local.server import LocalServer
from tests.support.databases import Database

pytestmark = pytest.mark.usefixtures("forked")

QUICK = Script(latency=(0.01, 0.06))
SLOW = Script(latency=(0.3, 0.6))
LEASE = 2.0


def variants(count: int) -> list[str]:
    """Different texts."""
    return [f"{TEXT} This is variant {number}." for number in range(count)]


@pytest_asyncio.fixture
async def app(database: Database) -> AsyncIterator[App]:
    """The application; the handlers run elsewhere."""
    async with elsewhere(database, LEASE) as made:
        yield made


async def effects(app: App) -> int:
    """How many jobs changed an item."""
    return await app.count("select from postmill.outcome where result ->> 'effect' = 'true'")


# On a machine that is busy with other tests all is late, yet far from 200 s.
@pytest.mark.parametrize("seconds", [20, pytest.param(5, marks=pytest.mark.long)])
async def test_100_items_are_enriched_within_5_s_of_their_creation(
    app: App, tmp_path: Path, seconds: int
) -> None:
    """Seed 2: against 200 s with polling every 2 s and one at a time."""
    texts = sorted(gather(150), key=lambda text: len(text.body))[:100]
    async with fleet(app.dsn, tmp_path, QUICK) as processes:
        await processes.hire(2)
        await app.create_many([text.body for text in texts])
        await app.all_ready(100, timeout=30)
    late = await app.count(f"select from items where enriched_at - captured_at > interval '{seconds} s'")
    assert late == 0
    assert await effects(app) == 100


async def test_a_worker_killed_in_mid_work(app: App, tmp_path: Path) -> None:
    """SIGKILL: what it held is taken back when its lease is over, by the one that is left."""
    async with fleet(app.dsn, tmp_path, SLOW) as processes:
        victim, other = await processes.hire(2, slots=4, POSTMILL_WORKER__LEASE=f"{LEASE}s")
        created = await app.create_many(variants(40))
        held = await until(lambda: holds(app.conn, victim))
        victim.kill()
        await app.all_ready(40, timeout=60)
        other.check()
    lost = await app.count("select from postmill.job_attempts where error_text like '%%lease%%ended%%'")
    assert 0 < lost <= 2 * held + 4
    assert await effects(app) == 40
    attempts = [await app.attempts(item) for item in created]
    assert all(ended[-1] == "succeeded" and len(ended) <= 2 for ended in attempts)


async def test_notify_off(app: App, tmp_path: Path) -> None:
    """The flag of the rollout: without notifications the poll finds everything, only later."""
    async with fleet(app.dsn, tmp_path, QUICK) as processes:
        await processes.hire(POSTMILL_NOTIFY="off", POSTMILL_QUEUES__ENRICHMENT__POLL_INTERVAL="1s")
        await app.create_many(variants(10))
        listening = (
            "select from pg_stat_activity where datname = current_database() and query ilike 'listen %%'"
        )
        assert await app.count(listening) == 0
        assert await app.count("select from postmill.sleeper") == 0
        await app.all_ready(10)
        [one_more] = await app.create_many([TEXT])
        await app.becomes(one_more, "DONE")


async def test_postgres_restarted_in_mid_work(own_cluster: LocalServer, tmp_path: Path) -> None:
    """An immediate restart is a crash: sessions die, recovery runs, and everything goes on by itself."""
    dsn = own_cluster.dsn()
    prepare(dsn)
    async with fleet(dsn, tmp_path, SLOW) as processes:
        [worker] = await processes.hire(POSTMILL_WORKER__LEASE="10s")
        async with await AsyncConnection.connect(dsn, autocommit=True) as conn:
            before = App.elsewhere(dsn, conn)
            await before.create_many(variants(30))
            await until(lambda: holds(conn, worker))
            own_cluster.restart("immediate")
        async with await AsyncConnection.connect(dsn, autocommit=True) as conn:
            app = App(dsn, conn, None, before.capture_id)
            await app.create("Written after the restart, and enriched as everything before it.")
            await app.all_ready(31, timeout=60)
            assert await effects(app) == 31
        worker.check()
    async with await AsyncConnection.connect(dsn) as conn:
        assert conn.info.server_version


async def test_running_everything_twice_changes_nothing_nor_does_what_was_discarded(
    app: App, tmp_path: Path
) -> None:
    """The jobs of discarded items succeed without effect."""
    discarded: list[CreatedItem] = await app.create_many(variants(5))
    for item in discarded:
        assert await DiscardItem(app.conn)(item.id)
    async with fleet(app.dsn, tmp_path, QUICK) as processes:
        await processes.hire()
        created = await app.create_many(variants(20))
        await until(app.idle)
        before = [await app.item(item) for item in created]
        again = await aenqueue_many(app.conn, [enrich.new(item_id=item.id) for item in created])
        assert all(job.created for job in again)
        await until(app.idle)
    assert [await app.item(item) for item in created] == before
    assert await app.statuses() == {"READY_TO_CONFIRM": 20, "DISCARDED": 5}
    assert await effects(app) == 20
    assert await app.count("select from enrichment_outbox where status = 'DONE'") == 45
    assert all([(await app.item(item))["title"] is None for item in discarded])
