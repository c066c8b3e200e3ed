"""Rollups say what history says: of every way in which a job is made, ends, or goes on."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import psycopg
import pytest
import pytest_asyncio

from postmill.domain.access import Role
from postmill.domain.job_type import job
from postmill.domain.policy import Constant
from postmill.domain.registry import AnyJobType
from postmill.domain.signals import Bury, Cancel, Fail, Snooze
from postmill.engine.context import Context
from postmill.local.server import LocalServer
from tests.support.api import Api, opened, problem
from tests.support.databases import fresh_database
from tests.support.http_work import HttpWorker, define_http, expire, rescue, worker
from tests.support.workers import enqueue, until, working

pytestmark = pytest.mark.asyncio(loop_scope="module")

# What history holds, in the words of the rollups: one line per event.
HISTORY = """
with body as (select id, tenant_id, job_type, queue from postmill.any_job),
ends as (
    select job_id, case when status = 'failed' and attempt_status is null then 'discarded'
                        when status = 'dead_letter' then 'replayed' else status end as outcome from postmill.outcome
    union all select id, 'dead_letter' from postmill.dead_letter
    union all select job_id, 'dead_letter' from postmill.outcome where status = 'dead_letter'
                  or (status = 'failed' and attempt_status is null)
    union all
    select a.job_id, case when a.status in ('failed', 'timeout') then 'retried' else a.status end from postmill.attempt a
     where a.run <> all (select d.run from postmill.dead_letter d where d.id = a.job_id
                         union all select o.run from postmill.outcome o where o.job_id = a.job_id
                            and o.attempt_status is null and o.status in ('failed', 'dead_letter'))
)
select b.tenant_id, b.queue, b.job_type, e.outcome, count(*) from ends e join body b on b.id = e.job_id group by 1, 2, 3, 4
union all
select tenant_id, queue, job_type, 'enqueued', count(*) from body group by 1, 2, 3
"""
ROLLUPS = (
    "select tenant_id, queue, job_type, outcome, sum(n)::bigint from postmill.rollups group by 1, 2, 3, 4"
)

# All tenants together are the sum of each, measure by measure; no row means that none differs.
SUMS = """queue, job_type, outcome, sum(n), round(sum(wait_sum)::numeric, 6), round(sum(run_sum)::numeric, 6),
    round(sum(total_sum)::numeric, 6), postmill.histogram_sum(wait_hist), postmill.histogram_sum(run_hist),
    postmill.histogram_sum(total_hist)"""
APART = f"""
with one as (select minute, {SUMS} from postmill.rollup_fleet group by 1, 2, 3, 4),
     other as (select minute, {SUMS} from postmill.rollup group by 1, 2, 3, 4)
(select * from one except select * from other) union all (select * from other except select * from one)"""

# And hours that of their minutes, of each tenant and of all together.
HOUR = "date_bin('1 hour', minute, timestamptz '2000-01-01 00:00+00')"
HOURS_APART = f"""
with one as (select {HOUR} as hour, tenant_id, {SUMS} from postmill.rollup group by 1, 2, 3, 4, 5 union all
             select {HOUR}, null::uuid, {SUMS} from postmill.rollup_fleet group by 1, 2, 3, 4, 5),
     other as (select hour, tenant_id, {SUMS} from postmill.rollup_hour group by 1, 2, 3, 4, 5)
(select * from one except select * from other) union all (select * from other except select * from one)"""
# Read over hours, statistics say the same as minute by minute.
DAYS = """select name, counts, waits, runs, totals from postmill.read_stats(
    postmill.now() - interval '30 hours 7 minutes', postmill.now() + interval '25 hours', %s, 'job_type') order by 1, 2::text"""

QUICK: dict[str, Any] = {"retry": Constant(0.0, jitter=(1, 1)), "max_attempts": 2}
HOME = UUID(int=1)


def jobs() -> list[AnyJobType]:
    """A job type per way of ending."""

    @job
    async def good(ctx: Context) -> str:
        return str(ctx.job.attempt)

    @job(**QUICK)
    async def second(ctx: Context) -> None:
        if ctx.job.attempt == 1:
            raise OSError(f"/tmp/{ctx.job.id} is gone after {ctx.job.attempt} look")

    @job(**QUICK)
    def hopeless(n: int = 0) -> None:
        raise ValueError(f"row {n} of 'table {n}' is wrong")

    @job(max_attempts=1, on_exhausted="fail")
    async def ends_failed() -> None:
        raise RuntimeError

    @job
    async def signals(ctx: Context, kind: str) -> None:
        if kind == "snooze" and ctx.job.run == 1:
            raise Snooze(0)
        raise {"snooze": Cancel, "cancel": Cancel, "bury": Bury, "fail": Fail}[kind]("as asked")

    @job(keep="failures")
    async def forgotten() -> None:
        pass

    @job
    async def own(ctx: Context) -> None:
        async with ctx.transaction() as tx:
            tx.result = 1

    @job
    def joined(ctx: Context, dsn: str) -> None:
        with psycopg.connect(dsn) as conn:
            ctx.complete(conn)

    return [good, second, hopeless, ends_failed, signals, forgotten, own, joined]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(cluster: LocalServer, template: str) -> AsyncIterator[Api]:
    with fresh_database(cluster, template) as database:
        async with opened(database) as made:
            yield made


async def made(api: Api) -> list[UUID]:
    """Jobs of all kinds, for two tenants; what is rolled back is nothing."""
    dsn = api.database.dsn
    ids = []
    for tenant in (HOME, await api.tenant("acme")):
        for job_type, payload in [
            ("good", "{}"), ("second", "{}"), ("hopeless", '{"n": 7}'), ("hopeless", '{"n": 80}'), ("ends_failed", "{}"),
            ("forgotten", "{}"), ("own", "{}"), ("joined", f'{{"dsn": "{dsn}"}}'),
            *(("signals", f'{{"kind": "{kind}"}}') for kind in ("snooze", "cancel", "bury", "fail")),
        ]:  # fmt: skip
            ids.append(await enqueue(api.owner, job_type, payload, tenant=tenant))
        async with api.owner.transaction():  # before it is over its key is free again
            ids.append(await enqueue(api.owner, "good", "{}", tenant=tenant, key="k"))
            assert await enqueue(api.owner, "good", "{}", tenant=tenant, key="k") == ids[-1]
        waits = await enqueue(api.owner, "good", "{}", tenant=tenant, delay="1 hour")
        await api.rows("select * from postmill.cancel_jobs(array[%s]::uuid[])", waits)
        await api.rows(
            "select * from postmill.enqueue_many(array_fill('good'::text, array[30]), array_fill('{}'::jsonb, array[30]),"
            " array_fill(%s::uuid, array[30]))",
            tenant,
        )
    async with api.owner.transaction(force_rollback=True):
        await enqueue(api.owner, "good")
    return ids


async def counted(api: Api, offset: str) -> None:
    """Everything is counted and folded, as if so much time had passed."""
    await api.owner.execute("select set_config('postmill.clock_offset', %s, false)", [offset])
    for _ in range(4):  # the first count, the marker, and the last one: an hour at a time
        while (await api.rows("select postmill.count_enqueues('-1 hour')"))[0][0]:
            pass
    for fold in ("fold_rollups", "fold_error_groups"):
        while (await api.rows(f"select postmill.{fold}(100)"))[0][0]:
            pass
    await api.owner.execute("select set_config('postmill.clock_offset', '', false)")


async def http_reports(api: Api) -> None:
    """Jobs of HTTP workers: succeeded, retried, given up, lost."""
    await define_http(
        api, "far", "far", max_attempts=2, retry={"kind": "constant", "delay": 0.001, "jitter": [1, 1]}
    )
    hand = await worker(api, "w1", queues=["far"])
    for _ in range(4):
        await enqueue(api.owner, "far")
    assert (await hand.tell("complete", await hand.one())).status_code == 200
    for _ in range(2):
        await told(api, hand)
    await expire(api, await hand.one())
    assert list((await rescue(api)).values()) == ["scheduled"]


async def told(api: Api, hand: HttpWorker) -> None:
    answer = await hand.tell("fail", await hand.one(), error={"error_class": "Far", "message": "no 5 of 7"})
    assert answer.status_code == 200, answer.text


async def causes(api: Api) -> None:
    """Each cause is one group, in Python's words and in SQL's."""
    groups = await api.rows(
        "select job_type, error_class, message, frame, count, tenants from postmill.read_error_groups() order by 1, 2"
    )
    where = f"{__name__}:jobs.<locals>"
    assert groups == [
        ("ends_failed", "RuntimeError", "", f"{where}.ends_failed", 2, 2),
        ("far", "Far", "no * of *", "", 2, 1),
        ("far", "WorkerLost", "the lease of the worker session ended while the job ran", "", 1, 1),
        ("hopeless", "ValueError", "row * of * is wrong", f"{where}.hopeless", 8, 2),
        ("second", "OSError", "* is gone after * look", f"{where}.second", 2, 2),
        ("signals", "postmill.domain.signals.Bury", "as asked", f"{where}.signals", 2, 2),
        ("signals", "postmill.domain.signals.Fail", "as asked", f"{where}.signals", 2, 2),
    ]
    # The same fingerprint is with every attempt, outcome and dead letter, in Python's words and in SQL's.
    assert not await api.rows(
        """select x.error_group from (select error_group, error_class from postmill.attempt
             union all select error_group, error_class from postmill.outcome where attempt_status <> 'succeeded'
             union all select error_group, error_class from postmill.dead_letter) x
            where x.error_class is not null and not exists (select from postmill.error_group g where g.id = x.error_group)"""
    )
    assert not await api.rows(
        "select id from postmill.error_group where id <> postmill.error_group_id(job_type, error_class, message, frame)"
    )


async def faces(api: Api) -> None:
    """The API tells the same, and a tenant only its own."""
    everybody, acme = await api.client(Role.PLATFORM_VIEWER, None), await api.client(Role.VIEWER, "acme")
    whole = (await everybody.get("/stats")).json()["items"]
    assert len(whole) == 1
    counts = dict(await api.rows("select outcome, sum(n)::bigint from postmill.rollups group by 1"))
    assert whole[0]["counts"] == counts
    assert whole[0]["failure_rate"] == (counts["failed"] + counts["dead_letter"]) / (
        counts["succeeded"] + counts["failed"] + counts["dead_letter"]
    )
    total = whole[0]["total"]
    assert 0 < total["p50"] <= total["p95"] <= total["p99"] < 60
    by_queue = (await everybody.get("/stats", params={"by": "queue", "bucket_seconds": 60})).json()["items"]
    assert {one["name"] for one in by_queue} == {"default", "far"}
    assert sum(one["counts"].get("enqueued", 0) for one in by_queue) == counts["enqueued"]
    mine = (await acme.get("/stats", params={"by": "tenant"})).json()["items"]
    assert [one["name"] for one in mine] == [str(await api.tenant("acme"))]
    assert not (await acme.get("/stats", params={"tenant_id": str(HOME)})).json()["items"]
    problem(await acme.get("/stats", params={"bucket_seconds": 5}), 422, "invalid-request")

    causes = (await everybody.get("/errors", params={"definition_key": "hopeless"})).json()["items"]
    assert [(one["count"], one["tenants"]) for one in causes] == [(8, 2)]
    whole_cause = (await acme.get(f"/errors/{causes[0]['id']}")).json()
    assert (whole_cause["count"], whole_cause["tenants"], whole_cause["message"]) == (
        4,
        1,
        "row * of * is wrong",
    )
    assert [one["slug"] for one in whole_cause["affected"]] == ["acme"]
    assert (await acme.get(f"/jobs/{whole_cause['sample_job_id']}")).status_code == 200
    lost = (await everybody.get("/errors", params={"error_class": "WorkerLost"})).json()["items"][0]["id"]
    problem(await acme.get(f"/errors/{lost}"), 404, "not-found")
    first = (await everybody.get("/errors", params={"limit": 3})).json()
    rest = (await everybody.get("/errors", params={"limit": 50, "cursor": first["next"]})).json()
    assert len({one["id"] for one in first["items"] + rest["items"]}) == 3 + len(rest["items"]) == 7


async def test_rollups_equal_history(api: Api) -> None:
    types = jobs()
    async with working(api.database.dsn, *types, upkeep=False) as first:
        ids = await made(api)

        async def all_ended() -> bool:
            await api.owner.execute("select * from postmill.promote(null, 500, 5000)")
            left = await api.rows(
                "select count(*) from postmill.ready union all select count(*) from postmill.running"
                " union all select count(*) from postmill.scheduled"
            )
            return not any(n for (n,) in left)

        await until(all_ended)
        assert first.counters.missed_reports == 0
    await http_reports(api)
    dead = [row[0] for row in await api.rows("select id from postmill.dead_letter order by id")]
    await api.rows("select * from postmill.replay_jobs(array[%s]::uuid[])", dead[0])
    await api.rows("select * from postmill.discard_jobs(array[%s]::uuid[], 'enough')", dead[1])
    late = await api.database.aconnect()
    await late.execute("begin")
    for job_type in ("good", "good", "far"):
        await enqueue(late, job_type)
    await counted(api, "5 seconds")

    history = {tuple(row[:4]): row[4] for row in await api.rows(HISTORY)}
    rolled = {tuple(row[:4]): row[4] for row in await api.rows(ROLLUPS)}
    nothing_kept = {
        (tenant, "default", "forgotten", outcome): 1
        for tenant in (HOME, await api.tenant("acme"))
        for outcome in ("enqueued", "succeeded")
    }
    assert rolled == history | nothing_kept
    assert {key[3] for key in rolled} >= {
        "enqueued", "succeeded", "failed", "canceled", "dead_letter", "retried", "lost", "snoozed", "discarded", "replayed"
    }  # fmt: skip
    assert len(ids) == 26
    assert await api.rows(APART) == [] == await api.rows(HOURS_APART)
    # One bucket of all by the hour, and one of ten years and a second, which is no number of hours.
    assert await api.rows(DAYS, None) == await api.rows(DAYS, 315_360_001.0) != []
    assert (await api.rows("select count(*) from postmill.rollup_fleet"))[0][0] > 10

    # What started was measured: waits and runs of each attempt, totals of what did not go on and was not canceled.
    for outcome, n, waits, runs, totals in await api.rows(
        """select outcome, sum(n), sum((select sum(h) from unnest(wait_hist) h)), sum((select sum(h) from unnest(run_hist) h)),
                  sum((select sum(h) from unnest(total_hist) h)) from postmill.rollup group by 1"""
    ):
        started = outcome in ("succeeded", "failed", "dead_letter", "retried", "snoozed")
        assert (waits, runs) == ((n, n) if started else (waits, runs)), outcome
        assert totals == (n if outcome in ("succeeded", "failed", "dead_letter") else None), outcome

    await causes(api)
    await faces(api)

    # Who commits late is counted late, and once; until then nothing is counted for good, and nothing pruned.
    await counted(api, "5 minutes")
    (first_final,) = await api.rows("select final_to < postmill.now() from postmill.rollup_state")
    assert first_final == (True,)
    await late.execute("commit")
    await late.close()
    await counted(api, "10 minutes")
    again = {tuple(row[:4]): row[4] for row in await api.rows(HISTORY)}
    assert sum(again.values()) == sum(history.values()) + 3
    assert {tuple(row[:4]): row[4] for row in await api.rows(ROLLUPS)} == again | nothing_kept
    assert await api.rows("select * from postmill.forgotten") == []

    # A batch whose answer was lost is sent again, and counted once; the next one is counted too.
    (total_before,) = await api.rows("select sum(n)::bigint from postmill.rollups")
    ((holder,),) = await api.rows("select holder from postmill.worker where worker_id = %s", first.worker_id)
    row = json.dumps(
        [{"minute": "2031-05-17T09:30Z", "tenant_id": str(HOME), "queue": "default", "job_type": "good",
          "outcome": "canceled", "n": 5, "wait_sum": 0, "run_sum": 0, "total_sum": 0}]
    )  # fmt: skip
    for batch in (1_000_000, 1_000_000, 1_000_001):
        await api.rows("select postmill.add_counts(%s, %s, %s::text::jsonb, '[]')", holder, batch, row)
    assert await api.rows("select sum(n)::bigint from postmill.rollups") == [(total_before[0] + 10,)]
    await api.owner.execute(
        "delete from postmill.rollup_part where minute > postmill.now() + interval '1 year'"
    )

    # Totals remain when minutes become hours, and when they go: the metric never falls.
    total = "select outcome, sum(n) from postmill.rollup_total group by 1 order by 1"
    before = await api.rows(total)
    await counted(api, "3 days")
    while (await api.rows("select postmill.coarsen_rollups('-2 hours', '400 days', 1000)"))[0][0]:
        pass
    assert await api.rows("select count(*) from postmill.rollup where extract(minute from minute) > 0") == [
        (0,)
    ]
    assert {tuple(row[:4]): row[4] for row in await api.rows(ROLLUPS)} == again | nothing_kept
    assert await api.rows(APART) == [] == await api.rows(HOURS_APART)
    await api.rows("select postmill.coarsen_rollups('0', '-1 days', 100000)")
    assert await api.rows(total) == before
    for table in ("rollup", "rollup_fleet", "rollup_hour"):
        assert await api.rows(f"select count(*) from postmill.{table}") == [(0,)]
