"""Case 53: whatever is done to a job by SQL or by an operator while it runs, its worker says so once and goes on, and what
was done stands."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import Connection

from postmill.domain.job_type import job
from postmill.domain.policy import Constant
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import ReportMissed
from tests.engine.test_outcomes import end
from tests.support import sessions
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.sessions import WorkerSession, rows
from tests.support.tickets import changed
from tests.support.workers import enqueue, state, until, working

Conn = psycopg.AsyncConnection[Any]


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module: its tests are many and small."""
    return emptied


# What is done, whether the worker's report then misses, and where the job is in the end (after a return, after an error).
DEEDS: dict[str, tuple[str, bool, str | None, str | None]] = {
    "cancel": ("select * from postmill.cancel_jobs(array[%s], p_reason => 'unwanted')", False, "canceled", "canceled"),
    "retry": ("select * from postmill.retry_jobs(array[%s])", False, "succeeded", "dead_letter"),
    "replay": ("select * from postmill.replay_jobs(array[%s])", False, "succeeded", "dead_letter"),
    "discard": ("select * from postmill.discard_jobs(array[%s], 'no')", False, "succeeded", "dead_letter"),
    "re-prioritise": (changed("running", """'{"priority": 1}'""", "id = %s"), False, "succeeded", "dead_letter"),
    "move": (changed("running", """'{"queue": "elsewhere"}'""", "id = %s"), False, "succeeded", None),
    "delete": (
        """with t as (delete from postmill.running where id = %s returning id)
           delete from postmill.job using t where job.id = t.id""",
        True, None, None,
    ),
    "end": (
        """with t as (delete from postmill.running where id = %s returning *)
           insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, reason)
           select id, lane, 'failed', postmill.now(), attempt, run, lost, 'by hand' from t""",
        True, "failed", "failed",
    ),
    "give away": (
        changed("running", f"""'{{"holder": "{uuid4()}", "claim_no": 9}}'""", "id = %s"), True, "running", "running"
    ),
}  # fmt: skip


@pytest.mark.parametrize("ending", ["return", "error"])
@pytest.mark.parametrize("deed", DEEDS)
async def test_under_the_workers_hands(
    database: Database, pg: Connection[Any], apg: Conn, deed: str, ending: str
) -> None:
    text, misses, after_return, after_error = DEEDS[deed]
    runs, go = asyncio.Event(), asyncio.Event()

    # A canceled job that fails before its worker hears of it waits for its next attempt, and is canceled there.
    @job(max_attempts=2, retry=Constant(60.0 if deed == "cancel" else 0.01))
    async def held() -> None:
        runs.set()
        await go.wait()
        if ending == "error":
            raise ValueError("no good")

    @job
    async def after() -> None: ...

    bus, missed = Bus(), list[ReportMissed]()
    bus.subscribe(missed.append, ReportMissed)
    async with working(database.dsn, held, after, bus=bus) as worker:
        id = await enqueue(apg, "held")
        await until(runs.is_set)
        await apg.execute(text, [id])
        if (deed, ending) != ("cancel", "return"):  # who succeeds before he hears of it has succeeded
            go.set()
        expected = after_return if ending == "return" else after_error
        if deed == "move" and ending == "error":
            await until_scheduled_elsewhere(apg, id)
        elif expected is None:
            await until(lambda: missed)
            assert await state(apg, id) is None
        else:
            await end(apg, id, expected)
        await end(apg, await enqueue(apg, "after"), "succeeded")
        await until(lambda: len(missed) == misses)
        assert worker.counters.missed_reports == misses
    if deed == "cancel":
        assert pg.execute("select reason from postmill.outcome where status = 'canceled'").fetchall() == [
            ("unwanted",)
        ]
    if deed == "give away":
        pg.execute("delete from postmill.running")
        pg.execute("delete from postmill.job where job_type = 'held'")
    invariants(pg)


async def until_scheduled_elsewhere(conn: Conn, id: UUID) -> None:
    """The retry waits in the queue to which the job was moved, where this worker does not look."""

    async def there() -> bool:
        found = await conn.execute("select queue from postmill.ready where id = %s", [id])
        return await found.fetchone() == ("elsewhere",)

    await until(there)


@pytest.mark.parametrize(
    ("status", "delay"),
    [("failed", 0.0), ("timeout", 3600.0), ("snoozed", 60.0), ("interrupted", -1.0), (None, -1.0)],
)
def test_a_request_is_met_when_the_handler_has_ended(
    pg: Connection[Any], status: str | None, delay: float
) -> None:
    """However it ended, but with success: a cancelled job that fails at once is not tried to the end."""
    pg.execute("""select * from postmill.register_job_types('[{"key": "plain"}]')""")
    worker = WorkerSession(pg)
    other = sessions.one(pg, "select postmill.enqueue('plain')")
    id = sessions.one(pg, "select postmill.enqueue('plain')")
    held = worker.claim()
    assert rows(pg, "jobs/cancel_jobs", [id], "user", None, "unwanted") == [(id, "requested")]
    assert not sessions.put_back(pg, held, status, delay)
    goes_on = "queued" if delay < 0 else "scheduled"
    assert sessions.states(pg, [id, other]) == {id: "canceled", other: goes_on}
    assert sessions.one(pg, "select reason from postmill.outcome") == "unwanted"
    assert sessions.one(pg, "select count(*) from postmill.cancel_request") == 0
    invariants(pg)


async def test_a_body_that_is_gone_is_a_dead_letter_at_the_next_claim(
    database: Database, pg: Connection[Any], apg: Conn
) -> None:
    runs, go = asyncio.Event(), asyncio.Event()

    @job(max_attempts=5, retry=Constant(0.01))
    async def held() -> None:
        runs.set()
        await go.wait()
        raise ValueError("no good")

    async with working(database.dsn, held):
        id = await enqueue(apg, "held")
        await until(runs.is_set)
        await apg.execute("delete from postmill.job where id = %s", [id])
        go.set()
        await until(
            lambda: pg.execute("select from postmill.dead_letter where id = %s", [id]).fetchone() is not None
        )
    assert pg.execute("select reason from postmill.dead_letter").fetchall() == [("undecodable",)]
    invariants(pg)
