"""Jobs that are bound to a version of their definition: only workers that run its code take them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg

from postmill import Bury, job
from postmill.bind import adrive
from postmill.domain.registry import AnyJobType
from postmill.engine.worker import Worker
from postmill.operate import bulk, commands, why
from tests.support.databases import Database
from tests.support.workers import enqueue, state, until, working

APg = psycopg.AsyncConnection[Any]


class Bakery:
    """A job type in two versions, and what each of them baked."""

    def __init__(self) -> None:
        self.broken = True
        self.baked: dict[str, list[int]] = {"old": [], "new": []}

    def version(self, name: str) -> AnyJobType:
        @job("bake", max_attempts=2, action=name)
        async def bake(n: int) -> None:
            if self.broken:
                raise Bury("the oven is cold")
            self.baked[name].append(n)

        return bake


async def dead(apg: APg, first: int, n: int) -> list[UUID]:
    ids = [await enqueue(apg, "bake", f'{{"n": {first + i}}}') for i in range(n)]

    async def all_dead() -> bool:
        return all([await state(apg, id) == "dead_letter" for id in ids])

    await until(all_dead)
    return ids


async def replay(apg: APg, ids: list[UUID]) -> list[UUID]:
    answers = await adrive(apg, commands.replay(ids, original_version=True))
    assert {one.status for one in answers} == {"replayed"}
    return [one.new_id for one in answers if one.new_id is not None]


async def codes(apg: APg, id: UUID) -> dict[str, str]:
    return {one.code: one.text for one in (await adrive(apg, why.why(id))).reasons}


async def looked(worker: Worker) -> None:
    """It has looked for work twice since."""
    since = worker.counters.claims + worker.counters.polls
    await until(lambda: worker.counters.claims + worker.counters.polls > since)


async def test_only_workers_of_its_version_take_a_bound_job(database: Database, apg: APg) -> None:
    bakery = Bakery()
    old, new = bakery.version("old"), bakery.version("new")
    async with working(database.dsn, old):
        (first, *more) = await dead(apg, 0, 3)
    async with working(database.dsn, new, poll_interval=0.3) as younger:
        others = await dead(apg, 10, 10)
        bakery.broken = False
        (bound,) = await replay(apg, [first])
        await enqueue(apg, "bake", '{"n": 99}')
        await until(lambda: bakery.baked["new"] == [99])
        await looked(younger)
        assert await state(apg, bound) == "queued"
        assert (await codes(apg, bound))[
            "version"
        ] == "it waits for version v1 of bake: no live worker runs it"
        impact = await adrive(apg, bulk.impact("replay", bulk.by_ids(more)))
        assert [(one.name, one.count) for one in impact.version_unserved] == [("bake v1", 2)]
        assert (impact.version_changed, impact.version_gone) == (2, 0)
        async with working(database.dsn, old):  # rolled back: the code of the first version, as the third
            await until(lambda: bakery.baked["old"] == [0])
            assert (await adrive(apg, bulk.impact("replay", bulk.by_ids(more)))).version_unserved == []
            await replay(apg, others[:5])
            await until(lambda: len(bakery.baked["new"]) == 6)
            # The same where claims look at limits, too.
            await apg.execute("select postmill.door_set_limit('type', 'bake', '{}', 2, null)")
            await replay(apg, others[5:])
            await replay(apg, more)
            await until(lambda: len(bakery.baked["old"]) + len(bakery.baked["new"]) == 14)
    assert sorted(bakery.baked["old"]) == [0, 1, 2]
    assert sorted(bakery.baked["new"]) == [*range(10, 20), 99]
    cursor = await apg.execute("select distinct version from postmill.pin order by 1")
    assert [row[0] for row in await cursor.fetchall()] == [1, 2]


async def test_a_version_that_is_gone_is_refused_and_a_bound_retry_stays_bound(
    database: Database, apg: APg
) -> None:
    bakery = Bakery()
    async with working(database.dsn, bakery.version("old")):
        (id, other) = await dead(apg, 0, 2)
    await apg.execute(
        "update postmill.job_definition set version = 7, fingerprint = 'other' where key = 'bake'"
    )
    (bound,) = await replay(apg, [other])
    lane = "select lane from postmill.ready where id = %s union all select lane from postmill.scheduled where id = %s"
    lanes = [(await (await apg.execute(lane, (bound, bound))).fetchone())]
    await apg.execute(
        "select * from postmill.door_schedule_jobs(%s, postmill.now() + interval '1 hour')", ([bound],)
    )
    lanes.append(await (await apg.execute(lane, (bound, bound))).fetchone())
    assert lanes[0] == lanes[1] is not None
    await apg.execute("update postmill.job_definition set kind = 'http' where key = 'bake'")
    (answer,) = await adrive(apg, commands.replay([id], original_version=True))
    assert (answer.status, answer.new_id) == ("version_gone", None)
    found = await adrive(apg, bulk.impact("replay", bulk.by_ids([id])))
    asked = {"again": False, "confirm": False, "despite_success": False, "same_version": False}
    assert [found.touched("replay", **asked, original_version=wanted) for wanted in (False, True)] == [1, 0]
