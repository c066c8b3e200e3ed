"""Every way in which an attempt can end, through a real worker against a real database."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from postmill.domain.job_type import job
from postmill.domain.limit import Rate
from postmill.domain.policy import Constant
from postmill.domain.registry import AnyJobType
from postmill.domain.signals import Bury, Cancel, Fail, Retry, Snooze
from postmill.engine.context import Context
from tests.support.databases import Database
from tests.support.workers import enqueue, state, until, working

pytestmark = pytest.mark.matrix

Conn = psycopg.AsyncConnection[Any]


class HttpError(Exception):
    def __init__(self, status: int, retry_after: str | None = None) -> None:
        self.status_code = status
        self.headers = {"Retry-After": retry_after} if retry_after else {}


async def one(conn: Conn, sql: str, *args: Any) -> Any:
    cursor = await conn.execute(sql, args)
    row = await cursor.fetchone()
    return row if row is None or len(row) > 1 else row[0]


async def end(conn: Conn, id: Any, expected: str) -> tuple[Any, ...]:
    """Wait for a state; attempt, reason, error class and result then."""

    async def there() -> bool:
        return await state(conn, id) == expected

    await until(there)
    row = await one(conn, "select attempt, reason, error_class, result from postmill.job_state(%s)", [id])
    return tuple(row)


async def test_a_result_is_kept(database: Database, apg: Conn) -> None:
    @job
    async def add(a: int, b: int = 2) -> dict[str, int]:
        return {"sum": a + b}

    @job
    def shout(text: str) -> str:
        return text.upper()

    async with working(database.dsn, add, shout):
        first = await enqueue(apg, "add", '{"a": 40}')
        second = await enqueue(apg, "shout", '{"text": "hello"}')
        assert await end(apg, first, "succeeded") == (1, None, None, {"sum": 42})
        assert (await end(apg, second, "succeeded"))[3] == "HELLO"


async def test_a_failure_is_tried_again_and_then_buried(database: Database, apg: Conn) -> None:
    runs: list[int] = []

    @job(max_attempts=2, retry=Constant(0.05))
    async def boom(ctx: Context) -> None:
        runs.append(ctx.attempt)
        raise ValueError("bad \x00 text \ud800")

    async with working(database.dsn, boom):
        id = await enqueue(apg, "boom")
        assert await end(apg, id, "dead_letter") == (2, "max_retries_exceeded", "ValueError", None)
    assert runs == [1, 2]
    rows = await (
        await apg.execute("select attempt, run, status from postmill.attempt order by run")
    ).fetchall()
    assert rows == [(1, 1, "failed"), (2, 2, "failed")]


@pytest.mark.parametrize(
    ("raised", "ended", "reason"),
    [
        (HttpError(404), "dead_letter", "permanent_error"),
        (Bury("no such account"), "dead_letter", "no such account"),
        (Fail("not wanted"), "failed", "not wanted"),
        (Cancel("nothing to do"), "canceled", "nothing to do"),
        (Retry(after=3600), "scheduled", None),
        (Snooze(3600), "scheduled", None),
        (HttpError(429, "3000"), "scheduled", None),
    ],
)
async def test_a_handler_decides(
    database: Database, apg: Conn, raised: Exception, ended: str, reason: str | None
) -> None:
    @job(retry=Constant(1.0))
    async def decide() -> None:
        raise raised

    async with working(database.dsn, decide):
        id = await enqueue(apg, "decide")
        found = await end(apg, id, ended)
        assert found[1] == reason
        attempts = {"Snooze": 1, "Retry": 2, "HttpError": 2}
        if ended == "scheduled":
            assert found[0] == attempts[type(raised).__name__]
            due = await one(
                apg, "select extract(epoch from run_at - postmill.now())::float8 from postmill.scheduled"
            )
            assert 2900 < due <= 3600


async def test_on_exhausted_fail_leaves_no_dead_letter(database: Database, apg: Conn) -> None:
    @job(max_attempts=1, on_exhausted="fail")
    async def boom() -> None:
        raise ValueError("x")

    async with working(database.dsn, boom):
        id = await enqueue(apg, "boom")
        assert await end(apg, id, "failed") == (1, "max_retries_exceeded", "ValueError", None)


async def test_a_payload_that_does_not_fit_is_undecodable(database: Database, apg: Conn) -> None:
    @job
    async def add(a: int) -> None: ...

    async with working(database.dsn, add):
        ids = [
            await enqueue(apg, "add", payload)
            for payload in ('{"a": "x"}', "{}", '{"a": 1, "b": 2}', '{"a": {"deep": [1]}}')
        ]
        for id in ids:
            assert (await end(apg, id, "dead_letter"))[1] == "undecodable"


async def test_a_job_that_was_not_started_in_time_is_expired(database: Database, apg: Conn) -> None:
    @job
    async def late() -> None: ...

    async with working(database.dsn, late):
        id = await one(
            apg,
            "select id from postmill.enqueue_one('late', '{}', null, p_expires_at => postmill.now() - interval '1 s')",
        )
        assert (await end(apg, id, "dead_letter"))[1] == "expired"


@pytest.mark.parametrize("kind", ["coroutine", "swallower", "thread"])
async def test_a_timeout_counts_from_the_start_of_the_handler(
    database: Database, apg: Conn, kind: str
) -> None:
    cleaned: list[str] = []

    @job("slow", timeout=0.2, max_attempts=1)
    async def coroutine() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            cleaned.append("coroutine")

    @job("slow", timeout=0.2, max_attempts=1)
    async def swallower() -> None:
        for _ in range(2):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cleaned.append("swallower")

    @job("slow", timeout=0.2, max_attempts=1)
    def thread(ctx: Context) -> None:
        while not ctx.cancel_requested:
            time.sleep(0.01)
        cleaned.append("thread")

    types: dict[str, AnyJobType] = {"coroutine": coroutine, "swallower": swallower, "thread": thread}
    async with working(database.dsn, types[kind], grace=0.5):
        id = await enqueue(apg, "slow")
        found = await end(apg, id, "dead_letter")
        assert found[1:3] == ("max_retries_exceeded", "postmill.domain.errors.TimedOut")
        assert cleaned[0] == kind
    assert await one(apg, "select status from postmill.attempt") == "timeout"


async def test_the_effect_and_the_success_are_one_commit(database: Database, apg: Conn) -> None:
    await apg.execute("create table effect (who text)")

    @job
    async def coroutine(ctx: Context) -> None:
        async with ctx.transaction() as tx:
            await tx.execute("insert into effect values ('coroutine')")
            tx.result = {"n": 1}
        raise RuntimeError("after the commit nothing changes the outcome")

    @job
    def thread(ctx: Context) -> None:
        with ctx.transaction() as tx:
            tx.execute("insert into effect values ('thread')")

    @job(max_attempts=1)
    async def undone(ctx: Context) -> None:
        async with ctx.transaction() as tx:
            await tx.execute("insert into effect values ('undone')")
            raise RuntimeError("before the commit everything is undone")

    async with working(database.dsn, coroutine, thread, undone):
        first, second, third = [await enqueue(apg, name) for name in ("coroutine", "thread", "undone")]
        assert (await end(apg, first, "succeeded"))[3] == {"n": 1}
        await end(apg, second, "succeeded")
        await end(apg, third, "dead_letter")
    rows = await (await apg.execute("select who from effect order by 1")).fetchall()
    assert rows == [("coroutine",), ("thread",)]


async def test_completing_on_a_connection_of_the_handlers_own(database: Database, apg: Conn) -> None:
    await apg.execute("create table effect (who text)")

    @job
    async def own(ctx: Context) -> None:
        async with await psycopg.AsyncConnection.connect(database.dsn) as conn:
            await conn.execute("insert into effect values ('own')")
            await ctx.acomplete(conn, {"by": "hand"})

    async with working(database.dsn, own):
        id = await enqueue(apg, "own")
        assert (await end(apg, id, "succeeded"))[3] == {"by": "hand"}
    assert await one(apg, "select count(*) from postmill.outcome") == 1


async def test_progress_is_shown(database: Database, apg: Conn) -> None:
    going = asyncio.Event()

    @job
    async def steps(ctx: Context) -> None:
        ctx.progress(3, 10, "third of ten")
        await going.wait()

    async with working(database.dsn, steps):
        id = await enqueue(apg, "steps")

        async def told() -> bool:
            row = await one(
                apg,
                "select progress_done, progress_total, progress_message from postmill.job_state(%s)",
                [id],
            )
            return bool(row == (3, 10, "third of ten"))

        await until(told)
        going.set()


async def test_a_limit_per_worker_is_never_exceeded_and_never_stuck(database: Database, apg: Conn) -> None:
    now, most = 0, 0

    @job(worker_limit=2)
    async def shot() -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1

    @job
    async def other() -> None: ...

    async with working(database.dsn, shot, other, queues={"default": 8}) as worker:
        await apg.execute("select postmill.enqueue('shot') from generate_series(1, 60)")
        await apg.execute("select postmill.enqueue('other') from generate_series(1, 60)")
        await until(lambda: worker.counters.of("shot", "default").succeeded == 60)
        await until(lambda: worker.counters.of("other", "default").succeeded == 60)
    assert most == 2


async def test_a_rate_is_exact(database: Database, apg: Conn) -> None:
    started: list[float] = []

    @job(rate=Rate(20, 1.0, burst=1))
    async def rated() -> None:
        started.append(time.monotonic())

    async with working(database.dsn, rated), working(database.dsn, rated):
        await apg.execute("select postmill.enqueue('rated') from generate_series(1, 25)")
        await until(lambda: len(started) == 25)
    assert started[-1] - started[0] >= 24 / 20 * 0.98
    assert started[-1] - started[0] < 24 / 20 + 3


async def test_keep_failures_leaves_only_a_count(database: Database, apg: Conn) -> None:
    @job(keep="failures")
    async def brief(fail: bool = False) -> None:
        if fail:
            raise Fail("as asked")

    async with working(database.dsn, brief) as worker:
        await apg.execute("select postmill.enqueue('brief') from generate_series(1, 50)")
        bad = await enqueue(apg, "brief", '{"fail": true}')
        await until(lambda: worker.counters.of("brief", "default").succeeded == 50)
        await end(apg, bad, "failed")
    assert await one(apg, "select count(*) from postmill.job") == 1
    assert await one(apg, "select count(*) from postmill.outcome") == 1
    assert await one(apg, "select sum(succeeded) from postmill.tally") == 50


async def test_a_type_that_this_worker_does_not_serve_is_left_for_others(
    database: Database, apg: Conn
) -> None:
    @job
    async def known() -> None: ...

    await apg.execute("""select * from postmill.register_job_types('[{"key": "stranger"}]')""")
    async with working(database.dsn, known):
        await enqueue(apg, "stranger")
        await until(lambda: _refused(apg))
    assert await one(apg, "select count(*) from postmill.ready") == 1
    assert await one(apg, "select count(*) from postmill.attempt") == 0


async def _refused(conn: Conn) -> bool:
    return bool(await one(conn, "select count(*) from postmill.refused_type"))


async def test_delays_run_at_their_time(database: Database, apg: Conn) -> None:
    started: dict[str, float] = {}

    @job
    async def mark(who: str) -> None:
        started[who] = time.monotonic()

    async with working(database.dsn, mark):
        began = time.monotonic()
        for who, delay in (("a", 0.2), ("b", 0.6), ("c", 1.1)):
            await enqueue(apg, "mark", f'{{"who": "{who}"}}', delay=timedelta(seconds=delay))
        await until(lambda: len(started) == 3)
        for who, delay in (("a", 0.2), ("b", 0.6), ("c", 1.1)):
            assert delay <= started[who] - began < delay + 4.0
