"""Seed 2's five integration tests, by their names, with real workers and a real service."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path

from psycopg import AsyncConnection

from examples.enrichment.discard_item import DiscardItem
from examples.enrichment.jobs import enrich
from examples.enrichment.tests.app import TEXT, App, failing, serving, until, working
from examples.enrichment.tests.fleet import fleet
from examples.upstreams.script import Answer, Script
from postmill import aenqueue
from tests.support.eventually import aeventually

NEVER = 3600.0
"""A poll interval in seconds: nothing in the test can be due to polling."""


async def test_happy_path(app: App) -> None:
    """Enqueue → NOTIFY → drain → completed."""
    async with working(app.dsn, poll_interval=NEVER):
        await app.worker_asleep()
        created = await app.create()
        done = await app.becomes(created, "DONE")
    item = await app.item(created)
    assert item["status"] == "READY_TO_CONFIRM"
    assert item["language"] == "en"
    assert item["title"].startswith("A post mill turns")
    assert item["key_phrases"]
    assert item["summary"] in TEXT
    assert item["enriched_at"] > item["captured_at"]
    assert done["attempt_count"] == 0
    assert await app.attempts(created) == ["succeeded"]


async def test_missed_notify(app: App) -> None:
    """Enqueue (no NOTIFY) → poll picks up."""
    async with (
        working(app.dsn, poll_interval=1.0),
        await AsyncConnection.connect(app.dsn, autocommit=True) as ear,
    ):
        await ear.execute("listen postmill")
        await app.worker_asleep()
        await app.conn.execute("select set_config('postmill.notify', 'off', false)")
        created = await app.create()
        await app.becomes(created, "DONE")
        heard = [n.payload async for n in ear.notifies(timeout=0.1)]
    assert not [payload for payload in heard if payload.endswith(" enrichment")]
    assert (await app.item(created))["status"] == "READY_TO_CONFIRM"


async def test_startup_scan(app: App) -> None:
    """What was enqueued before there was any worker is found by its first look."""
    created = await app.create()
    async with working(app.dsn, poll_interval=NEVER, notify=False):
        await app.becomes(created, "DONE")


async def test_concurrent_workers(app: App) -> None:
    """Two workers claim → SKIP LOCKED → no duplicate."""
    count = 60
    with serving(Script(latency=(0.01, 0.05))) as api:
        app.use(api)
        created = await app.create_many([f"{TEXT} Variant {number}." for number in range(count)])
        async with working(app.dsn, count=2, slots=4) as workers:
            await app.all_ready(count, timeout=30)
        assert api.statistics() == {"requests": count, "answers": {"200": count}}
    assert [await app.attempts(item) for item in created] == [["succeeded"]] * count
    cursor = await app.conn.execute("select distinct worker_id from postmill.job_attempts")
    assert {id for (id,) in await cursor.fetchall()} == {worker.worker_id for worker in workers}


async def test_crash_recovery(app: App, tmp_path: Path) -> None:
    """Claim → crash (disconnect) → lease expires → reclaim."""
    async with fleet(app.dsn, tmp_path, Script(latency=(5.0, 5.0))) as slow:
        [victim] = await slow.hire(POSTMILL_WORKER__LEASE="2s")
        created = await app.create()
        await app.becomes(created, "IN_PROGRESS")
        victim.kill()
        orphan = await app.outbox(created)
        assert (orphan["status"], orphan["locked_by"].split(":")[1]) == ("IN_PROGRESS", str(victim.pid))
    async with working(app.dsn, lease=2.0) as [successor]:
        await app.becomes(created, "DONE", timeout=20)
    assert await app.attempts(created) == ["failed", "succeeded"]
    row = await app.outbox(created)
    assert (row["attempt_count"], row["last_error_code"]) == (1, "WorkerLost")
    assert await app.count("select from postmill.job_attempts where worker_id = %s", successor.worker_id) == 1


async def test_idempotency(app: App) -> None:
    """Process twice → item unchanged after first."""
    created = await app.create()
    async with working(app.dsn):
        await app.becomes(created, "DONE")
        before = await app.item(created)
        again = await aenqueue(app.conn, enrich.new(item_id=created.id))
        assert again.created, "the first has ended, so its key is free"
        await until(app.idle)
    assert await app.item(created) == before
    assert app.api.statistics() == {"requests": 1, "answers": {"200": 1}}, "the service was not asked again"


async def test_idempotency_of_two_that_run_at_the_same_time(app: App) -> None:
    """Both ask the service; only the first to commit has an effect, and both succeed."""
    with serving(failing(Answer(delay=0.5), Answer(delay=0.5))) as slow:
        app.use(slow)
        created = await app.create()
        twin = await aenqueue(app.conn, enrich.using(key="twin").new(item_id=created.id))
        async with working(app.dsn):
            await app.all_ready(1)
        assert slow.statistics() == {"requests": 1, "answers": {"200": 2}}
    cursor = await app.conn.execute(
        "select status, result ->> 'effect' from postmill.outcome where job_id = any(%s) order by 2",
        [[created.job_id, twin.id]],
    )
    assert await cursor.fetchall() == [("succeeded", "false"), ("succeeded", "true")]


async def test_discarded_while_queued(app: App) -> None:
    """The job succeeds without effect, and without asking the service."""
    created = await app.create()
    assert await DiscardItem(app.conn)(created.id)
    assert not await DiscardItem(app.conn)(created.id), "once is enough"
    async with working(app.dsn):
        await app.becomes(created, "DONE")
    item = await app.item(created)
    assert (item["status"], item["title"], item["enriched_at"]) == ("DISCARDED", None, None)
    assert app.api.statistics() == {"requests": 0, "answers": {}}


async def test_discarded_while_running(app: App) -> None:
    """The answer comes too late: it is thrown away, and the job succeeds."""
    with serving(failing(Answer(delay=0.5))) as slow:
        app.use(slow)
        created = await app.create()
        async with working(app.dsn):
            await app.becomes(created, "IN_PROGRESS")
            await aeventually(lambda: slow.statistics()["requests"] == 1)
            assert await DiscardItem(app.conn)(created.id)
            await app.becomes(created, "DONE")
    assert (await app.item(created))["title"] is None


async def test_a_busy_service_is_asked_again_when_it_said(app: App) -> None:
    with serving(failing(Answer(status=429, retry_after="1"))) as busy:
        app.use(busy)
        created = await app.create()
        async with working(app.dsn, poll_interval=NEVER):
            await app.becomes(created, "DONE")
    assert await app.attempts(created) == ["failed", "succeeded"]
    row = await app.outbox(created)
    assert (row["attempt_count"], row["last_error_code"]) == (1, "HTTP_429")


async def test_a_slow_service_holds_no_transaction_open(app: App) -> None:
    """A person can discard, and vacuum can clean, while the service thinks."""
    said = threading.Event()

    with serving(failing()) as slow, ExitStack() as stack:
        stack.callback(said.set)
        answer = slow.respond

        def think(body: bytes) -> tuple[int, object]:
            said.wait()
            return answer(body)

        slow.respond = think
        app.use(slow)
        created = await app.create()
        async with working(app.dsn):
            await aeventually(lambda: slow.statistics()["requests"] == 1)

            async def none_open() -> bool:
                query = "select from pg_stat_activity where datname = current_database() and state like 'idle in%%'"
                return await app.count(query) == 0

            await until(none_open)
            assert slow.statistics()["answers"] == {}, "it still thinks"
            said.set()
            await app.becomes(created, "DONE")
