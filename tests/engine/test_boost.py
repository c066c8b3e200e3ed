"""Jobs that have waited for long rise; order within a priority. Case 55."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from postmill.domain.boost import Boost
from postmill.domain.job_type import job
from postmill.domain.queue import Queue
from tests.support import sessions
from tests.support.backlog import backlog
from tests.support.workers import enqueue, working

LANE = sessions.DEFAULT_TENANT


def at(pg: Connection[Any], seconds: float) -> None:
    """So many seconds after the beginning of the test."""
    pg.execute("select set_config('postmill.clock_offset', %s, false)", [f"{seconds} s"])


def declare(pg: Connection[Any], boost: Boost | None, **more: Any) -> None:
    pg.execute('select postmill.register_job_types(\'[{"key": "t"}]\')')
    pg.execute("select postmill.register_queues(%s)", [Jsonb([Queue("default", boost=boost, **more).row()])])


def boost(pg: Connection[Any], *, lanes: int = 500, window: int = 1000, most: int = 5000) -> list[Any]:
    return pg.execute(
        "select * from postmill.boost_round(null, null, %s, %s, %s)", [lanes, window, most]
    ).fetchall()


def raised(pg: Connection[Any]) -> dict[int, int]:
    """How many wait at each priority."""
    return dict(pg.execute("select priority, count(*) from postmill.ready group by 1").fetchall())


def test_a_job_rises_by_steps_and_says_so(pg: Connection[Any]) -> None:
    declare(pg, Boost(to=75))
    backlog(pg, "t", 3)
    backlog(pg, "t", 1, priority=50)
    at(pg, 590)
    assert [row[1] for row in boost(pg)] == [0]
    at(pg, 610)
    assert [row[1] for row in boost(pg)] == [3]
    assert [row[1] for row in boost(pg)] == [0], "once for each ten minutes"
    assert raised(pg) == {90: 3, 50: 1}
    at(pg, 1810)
    boost(pg)
    assert raised(pg) == {75: 3, 50: 1}, "to 75 at most, and never down"
    (job,) = pg.execute("select id from postmill.ready where priority = 75 limit 1").fetchone() or ()
    row = pg.execute(
        "select from_priority, priority, extract(epoch from raised_at - waiting_since) from postmill.read_boost(%s)",
        [job],
    ).fetchone()
    assert row is not None
    assert row[:2] == (100, 75)
    assert 1800 < row[2] < 1830
    lines = pg.execute(
        """select actor_type, actor_id, target, (after ->> 'raised')::int, after -> 'first' -> 0 ->> 'to'
             from postmill.audit_log where action = 'queues.boost' order by at"""
    ).fetchall()
    assert lines == [("system", "boost", "default", 3, "90"), ("system", "boost", "default", 3, "75")]
    # An operator's word is a new beginning.
    pg.execute("select * from postmill.door_prioritize_jobs(array[%s], 200)", [job])
    boost(pg)
    assert raised(pg) == {75: 2, 50: 1, 200: 1}
    at(pg, 1810 + 660)
    boost(pg)
    assert raised(pg) == {75: 2, 50: 1, 190: 1}
    # Who starts is no more among those that wait, and who is off raises nobody.
    assert len(sessions.WorkerSession(pg).claim(2)) == 2
    boost(pg)
    assert sessions.one(pg, "select count(*) from postmill.boost where ended_at is null") == 2
    pg.execute("update postmill.queue set boost_after_seconds = null, boost_step = null, boost_to = null")
    assert boost(pg) == []
    assert sessions.one(pg, "select count(*) from postmill.boost where ended_at is null") == 0
    at(pg, 9 * 86400)
    boost(pg)
    assert sessions.one(pg, "select count(*) from postmill.boost") == 0


def test_a_round_is_bounded_and_goes_on_where_it_ended(pg: Connection[Any]) -> None:
    declare(pg, Boost())
    lanes = [UUID(int=n) for n in range(5)]  # the lane of all zeros is one, too
    for lane in lanes:
        backlog(pg, "t", 4, lane=lane)
    at(pg, 700)
    place: tuple[Any, Any] = (None, None)
    found = []
    for _ in range(9):
        rows = pg.execute("select * from postmill.boost_round(%s, %s, 2, 3, 5)", [*place]).fetchall()
        place = rows[-1][2:]
        found.append(rows[-1][1])
        if place[0] is None:
            break
    assert max(found) <= 5
    assert raised(pg) == {90: 15, 100: 5}, "three of each lane"
    oldest = pg.execute(
        "select bool_and(low.ready_at >= high.at) from postmill.ready low join (select lane, max(ready_at) as at"
        " from postmill.ready where priority = 90 group by 1) high using (lane) where low.priority = 100"
    ).fetchone()
    assert oldest == (True,), "the oldest of each"


@pytest.mark.parametrize("rises", [False, True], ids=["strict", "boost"])
def test_case_55_a_steady_flow_of_more_urgent_work(pg: Connection[Any], rises: bool) -> None:
    """110 % of the capacity for 30 minutes. A step is worth the time that it takes to rise: nobody is overtaken by what
    came later than that."""
    declare(pg, Boost(after=300, to=80) if rises else None, wait_target=900)
    backlog(pg, "t", 300, priority=100)
    worker = sessions.WorkerSession(pg, lease=1e6)
    low: list[int] = []
    for tick in range(60):
        at(pg, 30 * tick)
        backlog(pg, "t", 22, priority=80)
        boost(pg)
        got = [held.id for held in worker.claim(20)]
        low += [tick] * sessions.one(
            pg, "select count(*)::int from postmill.job where id = any(%s) and priority = 100", got
        )
    pg.execute("select postmill.watch()")
    late = pg.execute("select title from postmill.incident where kind = 'sla_breach'").fetchall()
    if rises:
        assert low == [20 + n // 20 for n in range(300)], (
            "two steps of five minutes each, then it is the first"
        )
    else:
        assert low == []
        assert [title for (title,) in late] == [
            "queue default is late: the oldest job waits for 29.5 min, target of the wait 15.0 min"
        ]


def test_case_55_due_times_order_a_priority_also_of_what_is_tried_again(pg: Connection[Any]) -> None:
    """Nobody promoted for a while: a retry that was due before a job was made goes before it."""
    declare(pg, None)
    backlog(pg, "t", 1)
    worker = sessions.WorkerSession(pg, lease=1e6)
    (first,) = worker.claim()
    assert not sessions.put_back(pg, [first], "failed", 30)
    at(pg, 20)
    backlog(pg, "t", 1)
    at(pg, 60)
    backlog(pg, "t", 1)
    at(pg, 90)
    pg.execute("select * from postmill.promote(null, 500, 5000)")
    order = [held.id for held in worker.claim(3)]
    assert order.index(first.id) == 1


@pytest.mark.long
@pytest.mark.parametrize("rises", [False, True], ids=["strict", "boost"])
async def test_case_55_with_a_real_worker(dsn: str, apg: psycopg.AsyncConnection[Any], rises: bool) -> None:
    """The same by the clock: 40 jobs a second can be done, 44 come, and 200 wait that are less urgent."""
    ended: dict[int, list[float]] = {80: [], 100: []}
    began = monotonic()

    @job
    async def brief(priority: int) -> None:
        await asyncio.sleep(0.1)
        ended[priority].append(monotonic() - began)

    flow = 45.0
    named = Boost(after=5, step=10, to=80) if rises else None
    async with working(dsn, brief, queues={"default": 4}, prefetch=0):
        await apg.execute(
            "select postmill.register_queues(%s)", [Jsonb([Queue("default", boost=named).row()])]
        )
        for _ in range(200):
            await enqueue(apg, "brief", '{"priority": 100}', priority=100)
        began = monotonic()
        made = 0
        while (now := monotonic() - began) < flow:
            while made < now * 44 + 40:
                await enqueue(apg, "brief", '{"priority": 80}', priority=80)
                made += 1
            await asyncio.sleep(0.02)
        during = [moment for moment in ended[100] if 3.0 < moment < flow]
        told = f"{len(during)} of 200 while {made} more urgent came, of which {len(ended[80])} ended; {during[:1]}"
        assert len(during) >= 150 if rises else not during, told
        await apg.execute("truncate postmill.ready")  # the rest is of no interest
    assert len(ended[80]) > 500
