"""Bulk acts on what a query finds: each kind of act, how jobs are selected and in which order, who has to be asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from postmill.bind import adrive
from postmill.domain.errors import InvalidValue
from postmill.domain.letter_care import LetterCare
from postmill.domain.pace import Kind, Pace
from postmill.domain.query_words import QueryError
from postmill.engine.link import Link
from postmill.engine.outage import Outage
from postmill.engine.upkeep.operator import Operator
from postmill.operate import bulk, commands, finding, operations
from postmill.store.operations import Operation, Started
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import UpkeepFailed

Conn = psycopg.AsyncConnection[Any]

TYPES = """select * from postmill.register_job_types(
    '[{"key": "mail", "max_attempts": 1}, {"key": "asked", "replay_class": "ask"},
      {"key": "charge", "replay_class": "never"}]')"""
BURY = """
insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, attempts, failed_at,
       error_class)
select t.id, t.lane, t.queue, t.lane, t.priority, 1, 1, 0, 'quota', 1, postmill.now(), 'QuotaExceeded'
  from postmill.ready t where t.id = any(%s)"""


async def enqueue(conn: Conn, n: int, job_type: str = "mail", tenant: UUID | None = None) -> list[UUID]:
    cursor = await conn.execute(
        """select postmill.enqueue(%s, jsonb_build_object('n', g),
                  tenant => coalesce(%s, '00000000-0000-0000-0000-000000000001'::uuid)) from generate_series(1, %s) g""",
        [job_type, tenant, n],
    )
    return [row[0] for row in await cursor.fetchall()]


async def bury(conn: Conn, n: int, job_type: str = "mail", tenant: UUID | None = None) -> list[UUID]:
    made = await enqueue(conn, n, job_type, tenant)
    await conn.execute(BURY, [made])
    await conn.execute("delete from postmill.ready where id = any(%s)", [made])
    return made


async def start(conn: Conn, kind: Kind, query: str, **pace: Any) -> Started:
    meant = await adrive(conn, bulk.by_query(query))
    return await adrive(conn, bulk.start(kind, meant, Pace(**pace), reason="the flood", actor_id="ann"))


async def rounds(conn: Conn, most: int = 40) -> None:
    """What a worker's upkeep does, until nothing is to be done."""
    for _ in range(most):
        async with conn.transaction():
            cursor = await conn.execute("select * from postmill.running_operations(500)")
            going = await cursor.fetchall()
            for id, _, stage, allowed in going:
                if stage == "select":
                    await conn.execute("select postmill.select_items(%s, 3)", [id])
                    continue
                cursor = await conn.execute("select n from postmill.next_items(%s, %s)", [id, allowed])
                numbers = [row[0] for row in await cursor.fetchall()]
                await conn.execute("select * from postmill.step_operation(%s, %s, '{}')", [id, numbers])
        if not going:
            return


async def stands(conn: Conn, begun: Started) -> Operation:
    assert begun.id is not None
    return await adrive(conn, operations.operation(begun.id))


async def one(conn: Conn, query: str, *args: Any) -> Any:
    return ((await (await conn.execute(query.encode(), args)).fetchone()) or [None])[0]


async def test_each_act_does_what_it_says(apg: Conn) -> None:
    await apg.execute(TYPES)
    await apg.execute("insert into postmill.queue (name) values ('Slow')")
    waiting = await enqueue(apg, 7)
    dead = await bury(apg, 4)
    await enqueue(apg, 2, "asked")
    with pytest.raises(InvalidValue, match="every job there is"):
        await start(apg, "cancel", " ")
    with pytest.raises(InvalidValue, match="move needs queue"):
        await start(apg, "move", "type:mail")
    with pytest.raises(InvalidValue, match="canary goes with a replay only"):
        await start(apg, "cancel", "type:mail", canary=3)
    assert (await start(apg, "cancel", "type:mail state:succeeded")).status == "none"

    begun = await start(apg, "priority", "type:mail state:queued", priority=90)
    later = await enqueue(apg, 1)
    await rounds(apg)
    found = await stands(apg, begun)
    assert (found.status, found.total, found.done, found.filter) == (
        "finished", 7, 7, {"query": "type:mail state:queued"},
    )  # fmt: skip
    assert (
        await one(apg, "select count(*) from postmill.ready where priority = 90 and id = any(%s)", waiting)
        == 7
    )

    await start(apg, "move", "type:mail state:queued", queue="slow")
    await rounds(apg)
    assert await one(apg, "select count(*) from postmill.ready where queue = 'Slow'") == 8
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    begun = await start(apg, "run_at", "queue:Slow", run_at=tomorrow)
    await rounds(apg)
    assert (await stands(apg, begun)).done == 8
    assert (
        await one(
            apg, "select count(*) from postmill.scheduled where run_at = %s and queue = 'Slow'", tomorrow
        )
        == 8
    )
    await start(apg, "retry", "state:scheduled")
    await rounds(apg)
    assert await one(apg, "select count(*) from postmill.ready where queue = 'Slow'") == 8
    begun = await start(apg, "cancel", "type:mail")
    await rounds(apg)
    found = await stands(apg, begun)
    assert (found.total, found.done, found.skipped, found.failed) == (12, 8, 4, 0)
    assert await one(apg, "select count(*) from postmill.outcome where reason = 'the flood'") == 8

    meant = bulk.by_ids([dead[0], waiting[0]])
    begun = await adrive(apg, bulk.start("replay", meant, Pace(priority=120), actor_id="ann"))
    await rounds(apg)
    assert (await stands(apg, begun)).done == 2
    assert await one(apg, "select count(*) from postmill.ready where priority = 120") == 2
    begun = await start(apg, "discard", "state:dead_letter")
    await rounds(apg)
    found = await stands(apg, begun)
    assert (found.total, found.done, found.skipped) == (3, 3, 0)  # one was replayed, and is open no longer
    result = await adrive(apg, bulk.by_query(f"op:{begun.id}"))
    preview = await adrive(apg, bulk.impact("replay", result))
    assert (preview.count, preview.complete, preview.fit) == (3, True, 3)
    # A tenant finds by it what it acted on of its own jobs, though the operation is the platform's.
    whose = await one(
        apg, f"select tenant_id from postmill.operation_item where operation_id = '{begun.id}' limit 1"
    )
    for tenant, count in ((whose, 3), (UUID(int=9), None)):
        async with apg.transaction(force_rollback=True):
            await apg.execute(
                "select postmill.begin_request(%s, false, 'console', 'user', 'bo', 'viewer', null)", [tenant]
            )
            if count is None:
                with pytest.raises(QueryError, match="there is no operation"):
                    await adrive(apg, finding.wanted(f"op:{begun.id}"))
            else:
                what = await adrive(apg, finding.wanted(f"op:{begun.id}"))
                assert len((await adrive(apg, finding.page(what))).jobs) == count
    cursor = await apg.execute(
        "select action, count(*) from postmill.audit_log where actor_id = 'ann' group by 1 order by 1"
    )
    assert dict(await cursor.fetchall()) == {
        "dead.discard": 3, "dead.replay": 2, "jobs.cancel": 8, "jobs.move": 8, "jobs.priority": 7, "jobs.retry": 8,
        "jobs.run_at": 8, "operations.finish": 7, "operations.start": 7,
    }  # fmt: skip
    assert later[0] in {
        row.job_id
        for row in await adrive(apg, operations.items((await adrive(apg, operations.operations()))[5].id))
    }


async def test_a_move_of_what_is_running_waits_or_gone(apg: Conn) -> None:
    """One answer for each id, and tickets that somebody else holds stay."""
    await apg.execute(TYPES)
    await apg.execute("insert into postmill.queue (name) values ('Slow')")
    there, blocked, unknown = (await enqueue(apg, 1))[0], (await enqueue(apg, 1))[0], UUID(int=7)
    await apg.execute(
        """with gone as (delete from postmill.ready where id = %s returning *)
           insert into postmill.blocked select id, queue, lane, priority, attempt, run, lost from gone""",
        [blocked],
    )
    [ended] = await bury(apg, 1)
    ids = [there, blocked, ended, unknown]
    moved = await adrive(apg, commands.move_some(ids, "slow"))
    assert {one.id: one.status for one in moved} == {
        there: "changed", blocked: "changed", ended: "finished", unknown: "unknown"
    }  # fmt: skip
    again = await adrive(apg, commands.move_some([there, blocked], "Slow"))
    assert {one.status for one in again} == {"unchanged"}
    due = await adrive(apg, commands.schedule(ids, datetime.now(UTC) + timedelta(hours=1)))
    assert {one.id: one.status for one in due} == {
        there: "changed", blocked: "blocked", ended: "finished", unknown: "unknown"
    }  # fmt: skip
    due = await adrive(apg, commands.schedule([there], datetime(2020, 1, 1, tzinfo=UTC)))
    assert await one(apg, "select queue from postmill.ready where id = %s", there) == "Slow"
    async with apg.transaction():
        await apg.execute(
            "select postmill.begin_request('00000000-0000-0000-0000-000000000001', false, 'api', 'user', 'x', 'operator', null)"
        )
        assert [each.status for each in await adrive(apg, commands.move_some([there], "default"))] == [
            "unknown"
        ]
        assert (await start(apg, "move", "type:mail", queue="default")).status == "none"


async def test_many_are_selected_in_parts_and_tenants_take_turns(apg: Conn) -> None:
    await apg.execute(TYPES)
    ids = {}
    for slug in ("hog", "ada"):
        ids[slug] = await one(
            apg,
            "insert into postmill.tenant (id, slug, name) values (postmill.new_id(), %s, 'x') returning id",
            slug,
        )
    hog = await bury(apg, 12_000, tenant=ids["hog"])
    ada = await bury(apg, 3, tenant=ids["ada"])
    begun = await start(apg, "discard", "state:dead_letter", fair=True, rate=100.0)
    assert (begun.status, (await stands(apg, begun)).stage) == ("started", "select")
    plain = await start(apg, "discard", "state:dead_letter tenant:hog", held=True)
    await apg.execute("update postmill.operation set stage = 'rest' where id = %s and false", [begun.id])
    for _ in range(3):
        for each in (begun, plain):
            await apg.execute("select postmill.select_items(%s, 5000)", [each.id])
    found, counted = await stands(apg, begun), await stands(apg, plain)
    assert (found.total, found.stage, found.tenant_id) == (12_003, "rest", None)
    assert (counted.total, counted.status, counted.pause_reason) == (
        12_000,
        "paused",
        "counted: 12000 jobs match",
    )
    assert counted.tenant_id == ids["hog"]
    cursor = await apg.execute("select job_id from postmill.next_items(%s, 6)", [begun.id])
    first = [row[0] for row in await cursor.fetchall()]
    assert set(first) > set(ada)
    cursor = await apg.execute(
        "select job_id from postmill.operation_item where operation_id = %s order by turn, n limit 2",
        [plain.id],
    )
    assert [row[0] for row in await cursor.fetchall()] == hog[:2]
    assert len({row[0] for row in await (await apg.execute(
        "select job_id from postmill.operation_item where operation_id = %s", [plain.id])).fetchall()}) == 12_000  # fmt: skip


async def test_somebody_else_approves_and_an_abort_in_time_undoes_all(apg: Conn) -> None:
    await apg.execute(TYPES)
    await bury(apg, 5)
    begun = await start(apg, "replay", "type:mail", approve_above=3, undo_seconds=3600.0)
    assert begun.status == "proposed"
    assert begun.id is not None
    for verb, who, answer in (
        ("resume", "bob", "proposed"), ("approve", "ann", "same_person"), ("approve", "bob", "approved"),
        ("approve", "bob", "unchanged"),
    ):  # fmt: skip
        assert (await adrive(apg, operations.change(begun.id, verb, actor_id=who))).status == answer  # type: ignore[arg-type]
    await rounds(apg)
    found = await stands(apg, begun)
    assert (found.status, found.done, found.approved_by) == ("running", 0, "bob")
    assert found.start_at is not None
    assert found.start_at - found.created_at == timedelta(hours=1)
    assert (await adrive(apg, operations.change(begun.id, "abort", actor_id="ann"))).status == "aborted"
    assert await one(apg, "select count(*) from postmill.dead_letter") == 5
    assert (await start(apg, "replay", "type:mail", approve_above=5)).status == "started"


async def test_what_a_replay_would_meet_and_when_failures_stop_it(apg: Conn) -> None:
    await apg.execute(TYPES)
    await apg.execute("update postmill.queue set paused_at = postmill.now() where name = 'default'")
    await bury(apg, 40)
    await bury(apg, 2, "asked")
    await bury(apg, 3, "charge")
    done = (await enqueue(apg, 1))[0]  # the same payload as the first of the letters
    await apg.execute("delete from postmill.ready where id = %s", [done])
    await apg.execute(
        """insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost)
           values (%s, '00000000-0000-0000-0000-000000000001', 'succeeded', postmill.now(), 1, 1, 0)""",
        [done],
    )
    await apg.execute(
        "update postmill.job_definition set description = 'x', version = version + 1 where key = 'asked'"
    )
    meant = await adrive(apg, bulk.by_query("state:dead_letter"))
    found = await adrive(apg, bulk.impact("replay", meant))
    assert (found.count, found.complete, found.looked_at, found.fit) == (45, True, 45, 45)
    assert (found.never, found.ask, found.succeeded_since, found.past_deadline) == (3, 2, 1, 0)
    assert [(each.name, each.count) for each in found.paused_queues] == [("default", 45)]
    assert [(each.job_type, each.count) for each in found.by_type] == [
        ("mail", 40),
        ("charge", 3),
        ("asked", 2),
    ]
    assert [(each.error_class, each.count) for each in found.by_error] == [("QuotaExceeded", 45)]
    assert [each.count for each in found.by_age] == [45, 0, 0, 0]
    assert (await adrive(apg, bulk.impact("cancel", meant))).fit == 0
    before = await adrive(apg, bulk.impact("replay", meant, cut_off=found.cut_off))
    assert before.count == 45

    begun = await start(apg, "replay", "state:dead_letter", canary=4, stop_ratio=0.5, rate=5.0)
    assert begun.id is not None

    async def step(n: int) -> None:
        cursor = await apg.execute("select n from postmill.next_items(%s, %s)", [begun.id, n])
        numbers = [row[0] for row in await cursor.fetchall()]
        await apg.execute("select * from postmill.step_operation(%s, %s, '{}')", [begun.id, numbers])

    async def fail(all_but: int) -> None:
        cursor = await apg.execute("select id from postmill.ready order by id")
        alive = [row[0] for row in await cursor.fetchall()]
        await apg.execute("delete from postmill.ready")
        await apg.execute(
            """insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost)
               select u.id, '00000000-0000-0000-0000-000000000001', case when n <= %s then 'succeeded' else 'failed' end,
                      postmill.now(), 1, 1, 0 from unnest(%s::uuid[]) with ordinality u(id, n)""",
            [all_but, alive],
        )

    await step(4)
    await fail(1)  # of three that were replayed: the fourth has a later success
    await step(1)
    stood = await stands(apg, begun)
    assert (stood.status, stood.done, stood.skipped) == ("running", 4, 1)
    await fail(1)
    await step(0)
    stood = await stands(apg, begun)
    assert (stood.status, stood.stage, stood.done) == ("running", "rest", 4)
    await step(24)
    await fail(3)
    await apg.execute("update postmill.operation set checked_at = null")
    await step(0)
    stood = await stands(apg, begun)
    assert (stood.status, stood.pause_reason) == ("paused", "failures: 21 of the last 24 did not succeed")


async def test_what_is_left_as_it_is_costs_nothing_of_the_rate(apg: Conn, dsn: str) -> None:
    """Twenty of a type that is never replayed, then three others, at one a second: one look meets all twenty and one more."""
    await apg.execute(TYPES)
    await bury(apg, 20, "charge")
    await bury(apg, 3)
    begun = await start(apg, "replay", "state:dead_letter", rate=1.0)
    link = Link(dsn, "postmill", "test", Outage(Bus(), "w"), raw=False)
    bus = Bus()
    wrong: list[UpkeepFailed] = []
    bus.subscribe(wrong.append, UpkeepFailed)
    operator = Operator(link, bus, "w", LetterCare())
    try:
        await operator.once()
        if (await stands(apg, begun)).skipped == 0:
            await operator.once()  # the first one has only selected them
        op = await stands(apg, begun)
        assert wrong == []
        assert (op.skipped, op.done, op.status) == (20, 1, "running")
    finally:
        await link.drop()
