"""Limits over the whole fleet: never more than allowed, never stuck below, and nobody waits behind who must wait."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from postmill import bind
from postmill.domain.job_type import job
from postmill.domain.limit import Limit, Rate
from postmill.domain.queue import Queue
from postmill.engine.context import Context
from postmill.store.queues import register_queues
from postmill.store.registration import register_job_types
from tests.support import sessions
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.limited import Limited
from tests.support.sessions import Held, one
from tests.support.workers import until, working

A, B, C = UUID(int=100), UUID(int=200), UUID(int=300)


class Watched:
    """How many run at once, now and at most, and in which order they began."""

    def __init__(self) -> None:
        self.now: Counter[Any] = Counter()
        self.most: Counter[Any] = Counter()
        self.ended: Counter[Any] = Counter()
        self.began: list[Any] = []

    async def run(self, key: Any, seconds: float) -> None:
        self.now[key] += 1
        self.began.append(key)
        self.most[key] = max(self.most[key], self.now[key])
        try:
            await asyncio.sleep(seconds)
        finally:
            self.now[key] -= 1
            self.ended[key] += 1


watched = Watched()


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    watched.__init__()  # type: ignore[misc]


@job(limits=[Limit(max_running=3)])
async def shoot() -> None:
    await watched.run("shoot", 0.003)


@job(limits=[Limit(max_running=1, per="payload.customer"), Limit(max_running=4)])
async def sync(customer: str) -> None:
    await watched.run(customer, 0.002)


SHARED = Queue("shared", limits=[Limit(max_running=5, rate=Rate(1000, per=1.0))])


@job(queue=SHARED)
async def shared(ctx: Context) -> None:
    await watched.run(("shared", ctx.job.tenant_id), 0.002)


@job(limits=[Limit(max_running=1)])
async def one_running() -> None:
    await watched.run("one_running", 0.002)


@job
async def one_queued() -> None:
    await watched.run("one_queued", 0.002)


@job
async def one_in_all() -> None:
    await watched.run("one_in_all", 0.002)


@job
async def plain(ctx: Context) -> None:
    await watched.run(ctx.job.tenant_id, 0.002)


def tenants(conn: Connection[Any]) -> None:
    conn.execute(
        "insert into postmill.tenant (id, slug, name) select u.id, u.slug, u.slug"
        " from unnest(%s::uuid[], '{a, b, c}'::text[]) as u(id, slug)",
        ([A, B, C],),
    )


def change(conn: Connection[Any], tenant: UUID, settings: str) -> None:
    assert one(conn, "select postmill.door_change_tenant(%s, %s::jsonb)", tenant, settings) == "changed"


def enqueue(conn: Connection[Any], job_type: str, n: int, tenant: UUID = sessions.DEFAULT_TENANT) -> None:
    conn.execute(
        "select postmill.enqueue(%s, tenant => %s) from generate_series(1, %s)", (job_type, tenant, n)
    )


async def test_over_three_workers(database: Database, pg: Connection[Any]) -> None:
    """A limit of a type, of each key within another, and of a queue; what has none goes on beside them."""
    bind.run(pg, register_queues([SHARED]))
    types: Any = (shoot, sync, shared, plain)
    slots = {"default": 10, "shared": 10}
    async with (
        working(database.dsn, *types, queues=slots),
        working(database.dsn, *types, queues=slots),
        working(database.dsn, *types, queues=slots),
    ):
        enqueue(pg, "shoot", 100)
        pg.execute(
            "select postmill.enqueue('sync', jsonb_build_object('customer', 'c' || n % 20))"
            " from generate_series(1, 100) n"
        )
        enqueue(pg, "shared", 50)
        enqueue(pg, "plain", 50)
        await until(lambda: watched.ended.total() == 300, 60)
    assert watched.most["shoot"] == 3
    assert {watched.most[f"c{n}"] for n in range(20)} == {1}
    assert watched.most["shared", sessions.DEFAULT_TENANT] <= 5
    assert one(pg, "select count(*) from postmill.seat") == 0
    invariants(pg)


def test_every_end_frees_its_seats_once(database: Database, pg: Connection[Any]) -> None:
    sessions.rows(pg, "jobs/register_job_types", *register_job_types([shoot]).args)
    enqueue(pg, "shoot", 20)
    worker, other = Limited(pg), Limited(pg, age=120)
    seats = "select count(*) from postmill.seat"

    def full() -> list[Held]:
        held = worker.take()
        assert (len(held), one(pg, seats), other.take()) == (3, 3, [])
        ((key, wait, contended),) = other.told
        assert (key is not None, wait, contended) == (True, 0, False)
        return held

    first = full()
    assert (sessions.complete(pg, first), one(pg, seats)) == (set(), 0)
    second = full()
    assert sessions.complete(pg, first) == {line.id for line in first}  # a ghost frees nobody's seats
    assert one(pg, seats) == 3
    sessions.put_back(pg, second[:1], "failed", 3600)
    sessions.put_back(pg, second[1:2], None, -1)
    sessions.put_back(pg, second[2:], "snoozed", 3600)
    held = full()
    sessions.finish(pg, held[:1], "canceled")
    sessions.bury(pg, held[1:2])
    pg.execute("select postmill.cancel_jobs(%s)", ([held[2].id],))
    assert one(pg, seats) == 1
    sessions.put_back(pg, held[2:], "failed", 1)
    held = full()
    sessions.rows(pg, "claim/release_claims", worker.holder, [worker.claim_no])
    held = full()
    pg.execute("select postmill.close_session(%s)", (worker.holder,))
    assert one(pg, seats) == 0
    worker = Limited(pg)
    held = full()
    with database.connect() as busy, busy.transaction():  # somebody is counting: try again, do not sleep
        busy.execute(
            "select pg_advisory_xact_lock(hashtextextended('postmill seats ' || key, 0)) from postmill.limit_rule"
        )
        assert (other.take(), [contended for _, _, contended in other.told]) == ([], [True])
    worker.die()  # case 41: the seats go with the lease, and not before
    assert (one(pg, seats), other.take()) == (3, [])
    assert len(other.rescue()) == 3
    assert (one(pg, seats), len(other.take())) == (0, 3)
    invariants(pg)
    pg.execute("delete from postmill.seat where job_id in (select id from postmill.running limit 1)")
    with pytest.raises(AssertionError, match="no_seat"):
        invariants(pg)


def test_a_limit_that_is_news_is_in_force_at_once(pg: Connection[Any]) -> None:
    """A claim that knows nothing of it gets nothing; and those that waited in a lane with others go to one of their own."""
    sessions.rows(pg, "jobs/register_job_types", *register_job_types([plain, sync]).args)
    worker = Limited(pg)
    pg.execute("delete from postmill.limit_rule; update postmill.job_definition set limit_lane = null")
    pg.execute("update postmill.queue set limited = false")
    pg.execute(
        "select postmill.enqueue('sync', jsonb_build_object('customer', 'c' || n % 5)) from generate_series(1, 100) n"
    )
    enqueue(pg, "plain", 10)
    assert len(worker.claim(5)) == 5
    for name, most in (("type:sync/payload.customer", 1), ("type:sync", 4)):
        _, _, per = name.partition("/")
        assert pg.execute(
            "select status from postmill.door_set_limit('type', 'sync', %s, %s, null, 'too many')",
            ([per] if per else [], most),
        ).fetchone() == ("created",)
    assert (worker.claim(5), worker.lanes() != []) == ([], True)
    taken = [line for _ in range(40) for line in worker.take(20)]
    assert Counter(line.job_type for line in taken) == {"plain": 10, "sync": 4}
    lanes = "select count(distinct lane) from postmill.ready where lane <> %s"
    assert one(pg, lanes, sessions.DEFAULT_TENANT) == 5
    assert one(pg, "select postmill.door_clear_limit('type:sync')") == "cleared"
    sessions.rows(pg, "jobs/register_job_types", *register_job_types([sync]).args)
    assert one(pg, "select postmill.door_clear_limit('type:sync/payload.customer')") == "declared"
    assert (
        one(pg, "select count(*) from postmill.limit_rule where not edited and max_running is not null") == 2
    )
    told = pg.execute(
        "select action, target, reason from postmill.audit_log where target_kind = 'limit' order by id"
    ).fetchall()
    assert [line[0] for line in told] == ["limits.set", "limits.set", "limits.clear", "limits.clear"]
    assert told[0][1:] == ("type:sync/payload.customer", "too many")
    invariants(pg)


async def test_tenants_have_their_shares(database: Database, pg: Connection[Any]) -> None:
    """Weights 1 : 2 : 5 while all are busy; a cap, a throttle and a suspension hold from one moment to the next."""
    tenants(pg)
    for tenant, weight in ((A, 1), (B, 2), (C, 5)):
        pg.execute("update postmill.tenant set weight = %s where id = %s", (weight, tenant))
    sessions.rows(pg, "jobs/register_job_types", *register_job_types([plain]).args)
    for tenant in (A, B, C):
        enqueue(pg, "plain", 400, tenant)
    async with working(database.dsn, plain, queues={"default": 8}):
        await until(lambda: watched.ended[C] == 400, 60)
        began = watched.began[: 400 * 8 // 5]
        shares = {tenant: began.count(tenant) / len(began) for tenant in (A, B, C)}
        assert shares == pytest.approx(
            {A: 1 / 8, B: 2 / 8, C: 5 / 8}, abs=0.1
        )  # of a short run beside others; 0.05 where it is quiet
        await until(lambda: watched.ended.total() == 1200, 60)
        watched.most.clear()
        change(pg, A, '{"max_running": 2}')
        change(pg, B, '{"status": "suspended"}')
        change(pg, C, '{"status": "throttled"}')
        for tenant in (A, B, C):
            enqueue(pg, "plain", 60, tenant)
        enqueue(pg, "plain", 100)
        await until(lambda: watched.ended.total() == 1200 + 220, 60)
        assert watched.most[A] in (1, 2)
        assert (watched.most[B], watched.most[C]) == (0, 1)
        assert watched.most[sessions.DEFAULT_TENANT] >= 4
        last = len(watched.began) - 1 - watched.began[::-1].index(sessions.DEFAULT_TENANT)
        assert last < len(watched.began) - 1  # those with a cap were still at it
        change(pg, B, '{"status": "active"}')
        await until(lambda: watched.ended[B] == 460)
    invariants(pg)


async def test_what_only_one_means(database: Database, pg: Connection[Any]) -> None:
    """Case 39: one waiting beside those that run, one running beside those that wait, one in all."""
    types: Any = (one_running, one_queued, one_in_all)
    made: Counter[str] = Counter()
    rng = random.Random(39)
    async with working(database.dsn, *types), working(database.dsn, *types), working(database.dsn, *types):
        for _ in range(150):
            name = rng.choice(types).name
            key = {"one_queued": "queued", "one_in_all": "active"}.get(name)
            made[name] += pg.execute(
                "select count(*) from postmill.enqueue_many(array[%s], '{\"{}\"}', null, array[%s], array[%s])"
                " where status = 'created'",
                (name, name if key else None, key or "active"),
            ).fetchall()[0][0]
            waiting = "select count(*) from postmill.ready r join postmill.job j on j.id = r.id where j.job_type = %s"
            # A worker that claimed one ahead may have given it back, beside the one that came meanwhile.
            assert one(pg, waiting, "one_queued") <= 1 + 3
            await asyncio.sleep(rng.choice([0, 0.003]))
        await until(lambda: watched.ended == made, 60)
    assert (watched.most["one_running"], watched.most["one_in_all"]) == (1, 1)
    assert made["one_running"] > 30
    assert one(pg, "select count(*) from postmill.seat") == 0
    invariants(pg)


def test_nobody_waits_behind_who_must(database: Database, pg: Connection[Any]) -> None:
    """One claim gives what it can: room that a small lane leaves goes to the next, tenants share the lane of no lane, and a
    body of another kind in front hides nobody."""
    tenants(pg)
    sessions.rows(pg, "jobs/register_job_types", *register_job_types([plain]).args)
    worker = Limited(pg)
    one(pg, "select status from postmill.door_set_limit('all', null, '{}', 6, null)")
    for tenant, n in ((A, 1), (B, 1), (C, 9)):
        enqueue(pg, "plain", n, tenant)
    assert Counter(line.tenant for line in worker.take(6)) == {A: 1, B: 1, C: 4}
    ((key, wait, contended),) = worker.told
    assert (key is not None, wait, contended) == (True, 0, False)
    pg.execute("select postmill.cancel_jobs(array(select id from postmill.ready))")
    change(pg, A, '{"max_running": 1}')
    pg.execute("update postmill.job_definition set lane = 'none'")
    for tenant, n in ((A, 5), (B, 2)):
        enqueue(pg, "plain", n, tenant)
    one(pg, "select status from postmill.door_set_limit('all', null, '{}', 20, null)")
    assert [line.tenant for line in worker.take(10)] == [A, B, B], "A, which stands in front, may have one"
    invariants(pg)
