"""The view that keeps the old table's name: seed 2's columns after its phase 0, and its four statuses."""

from __future__ import annotations

from datetime import timedelta

from examples.enrichment.tests.app import App, failing, serving, until, working
from examples.upstreams.script import Answer

SEED_COLUMNS = {"id", "item_id", "status", "attempt_count", "claimed_at", "created_at"}
PHASE_0 = {"job_type", "run_at", "locked_by", "lease_expires_at", "last_error_code", "last_error_message"}
OF_THE_CLAIM_QUERY = {"locked_at"}


async def test_it_has_the_columns_of_the_seed(app: App) -> None:
    cursor = await app.conn.execute("select * from enrichment_outbox limit 0")
    assert {column.name for column in cursor.description or ()} == SEED_COLUMNS | PHASE_0 | OF_THE_CLAIM_QUERY


async def test_a_job_goes_from_pending_through_in_progress_to_done(app: App) -> None:
    created = await app.create()
    pending = await app.outbox(created)
    assert (pending["status"], pending["job_type"], pending["locked_by"]) == ("PENDING", "enrichment", None)
    assert pending["run_at"] == pending["created_at"]
    with serving(failing(Answer(delay=0.5))) as slow:
        app.use(slow)
        async with working(app.dsn, lease=60.0) as [worker]:
            running = await app.becomes(created, "IN_PROGRESS")
            assert running["locked_by"] == worker.worker_id
            assert running["locked_at"] == running["claimed_at"] >= pending["created_at"]
            lasts = running["lease_expires_at"] - running["locked_at"]
            assert timedelta(seconds=40) < lasts <= timedelta(seconds=90)
            done = await app.becomes(created, "DONE")
    assert (done["attempt_count"], done["locked_by"], done["lease_expires_at"]) == (0, None, None)
    assert done["last_error_code"] is None


async def test_a_failure_is_pending_again_with_its_error_and_its_time(app: App) -> None:
    created = await app.create()
    with serving(failing(Answer(status=500))) as broken:
        app.use(broken)
        async with working(app.dsn):
            await until(lambda: app.count("select from enrichment_outbox where attempt_count = 1"))
            row = await app.outbox(created)
    assert row["status"] == "PENDING"
    assert (row["last_error_code"], row["last_error_message"]) == ("HTTP_500", "500: Internal Server Error")
    assert row["locked_by"] is None
    assert timedelta(seconds=29) < row["run_at"] - row["created_at"] < timedelta(seconds=40)


async def test_what_the_service_refuses_is_failed_at_once(app: App) -> None:
    created = await app.create()
    with serving(failing(Answer(status=422))) as strict:
        app.use(strict)
        async with working(app.dsn):
            failed = await app.becomes(created, "FAILED")
    assert (failed["attempt_count"], failed["last_error_code"]) == (1, "HTTP_422")
    assert (await app.item(created))["status"] == "ENRICHING", "a person decides: replay the job, or discard"
