"""Rounds of the scheduler: each tick one job, whatever else is in the table."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from psycopg import Connection

from postmill.bind import drive
from postmill.engine.upkeep.ticks import work_for
from postmill.operate.triggers import create
from postmill.store.firing import due_triggers, fire_ticks
from postmill.store.flow import once
from postmill.telemetry.events import TicksFired, TriggerBroken, TriggerFailed
from tests.support.databases import Database
from tests.support.sessions import shifted
from tests.triggers.support import REGISTER, due_at, many, one, trigger, upkeep

Conn = Connection[Any]

TICKS = "select outcome from postmill.tick where trigger_id = %s order by due"


@pytest.fixture
def pg(pg: Conn) -> Conn:
    pg.execute(REGISTER)
    return pg


async def test_a_due_tick_is_a_job_that_says_where_it_comes_from(pg: Conn, dsn: str) -> None:
    id = trigger(pg, "nightly", payload={"day": "{{ schedule.date }}", "label": "{{ trigger.label }}!"})
    due_at(pg, id, "0 s")
    async with upkeep(dsn) as rounds:
        await rounds.schedule()
        assert rounds.counters.ticks == {"enqueued": 1}
        (fired,) = [it for it in rounds.told if isinstance(it, TicksFired)]
        assert fired.outcomes == {"enqueued": 1}
    job = one(pg, "select to_jsonb(j) from postmill.job j")
    due, outcome, job_id = one(
        pg, "select due, outcome, job_id::text from postmill.tick where trigger_id = %s", id
    )
    assert (job["source"], job["source_ref"], job["actor_id"]) == ("schedule", str(id), f"trigger:{id}")
    assert (outcome, job_id) == ("enqueued", job["id"])
    assert job["payload"] == {"day": due.date().isoformat(), "label": "nightly!"}
    assert job["correlation_id"] == f"{id}@{due:%Y-%m-%dT%H:%M:%SZ}"
    after = one(pg, "select next_run_at - %s, last_job_id::text from postmill.trigger where id = %s", due, id)
    assert (after[0].total_seconds(), after[1]) == (60, job["id"])


async def test_rows_by_sql_are_planned_and_bad_ones_stop_nobody(pg: Conn, dsn: str) -> None:
    bad = [
        trigger(pg, "no cron", cron_expr="every tuesday"),
        trigger(pg, "no zone", timezone="Europe/Atlantis"),
        trigger(pg, "no day", cron_expr="0 0 31 2 *"),
        trigger(pg, "no template", payload={"a": "{% if %}"}, every="1 minute"),
    ]
    due_at(pg, bad[3], "0 s")
    good = trigger(pg, "good")
    async with upkeep(dsn) as rounds:
        await rounds.schedule()
        assert {it.label for it in rounds.told if isinstance(it, TriggerFailed)} == {"no template"}
    state = (
        "select broken, error is not null, next_run_at > postmill.now() from postmill.trigger where id = %s"
    )
    assert [one(pg, state, id) for id in bad] == [(True, True, None)] * 3 + [(False, True, True)]
    assert one(pg, state, good) == (False, False, True)
    assert one(pg, "select error from postmill.trigger where id = %s", bad[1]).startswith(
        "its schedule cannot be read"
    )
    # Who mends it by SQL has it planned again.
    pg.execute("update postmill.trigger set timezone = 'Europe/Amsterdam' where id = %s", (bad[1],))
    async with upkeep(dsn) as rounds:
        await rounds.schedule()
    assert one(pg, state, bad[1]) == (False, True, True)


@pytest.mark.parametrize("offset", ["3 days", "5 minutes"])
async def test_after_a_downtime_the_policy_decides(pg: Conn, dsn: str, offset: str) -> None:
    names = ("skip", "once", "all")
    ids = {name: trigger(pg, name, missed=name, missed_limit=30, dedupe_window_seconds=0) for name in names}
    [(far,)] = pg.execute(
        "select extract(hour from now() at time zone 'UTC' + interval '12 hours')::int"
    ).fetchall()
    daily = trigger(pg, "daily", cron_expr=f"0 {far} * * *", missed="all")
    # In the middle of a minute: a tick that is due right now was not missed, and would run besides.
    [(middle,)] = pg.execute("select 30 - extract(second from now())").fetchall()
    async with upkeep(dsn, f"{middle} seconds") as rounds:
        await rounds.schedule()  # plans them
    async with upkeep(dsn, f"{offset} {middle} seconds") as rounds:
        await rounds.schedule()
    ran = {name: many(pg, TICKS, id).count("enqueued") for name, id in ids.items()}
    ticks = 3 * 1440 if offset == "3 days" else 5
    assert ran["once"] == 1
    assert ran["skip"] in (1, 2)  # those of the last sixty seconds
    assert ran["all"] in ((30,) if offset == "3 days" else (5, 6))
    assert many(pg, TICKS, daily) == (["enqueued"] * 3 if offset == "3 days" else [])
    for name in ("skip", "once"):
        left_out = one(
            pg,
            "select ticks, detail from postmill.tick where trigger_id = %s and outcome = 'skipped'",
            ids[name],
        )
        assert left_out[0] >= min(1000, ticks - 2)
        assert left_out[1].startswith("missed")
    # Nothing is due any more, for anybody.
    assert one(pg, "select count(*) from postmill.job") == sum(ran.values()) + len(many(pg, TICKS, daily))


async def test_ten_schedulers_never_fire_a_tick_twice(pg: Conn, dsn: str) -> None:
    for n in range(60):
        due_at(pg, trigger(pg, f"t{n}", every="1 second", missed="all", dedupe_window_seconds=0), "4 s")
    made = [upkeep(dsn) for _ in range(10)]
    rounds = [await it.__aenter__() for it in made]
    try:
        async with asyncio.timeout(60):
            while one(
                pg,
                "select count(*) from postmill.trigger where next_run_at <= postmill.now() - interval '1 s'",
            ):
                await asyncio.gather(*(it.scheduler.guarded() for it in rounds))
    finally:
        for it in made:
            await it.__aexit__(None, None, None)
    jobs, distinct, ticks = one(
        pg,
        "select count(*), count(distinct j.correlation_id), (select count(*) from postmill.tick where outcome = 'enqueued')"
        " from postmill.job j",
    )
    assert jobs == distinct == ticks >= 60 * 4


async def test_the_runs_that_were_promised_are_those_that_come(pg: Conn, dsn: str) -> None:
    """Case 77: also over a change of the clock."""
    now = datetime.now(UTC)
    york = ZoneInfo("America/New_York")
    hours = (now + timedelta(hours=n) for n in range(366 * 24))
    change = next(
        at for at in hours if at.astimezone(york).dst() != (at - timedelta(hours=1)).astimezone(york).dst()
    )
    before = (change - timedelta(days=2) - now).total_seconds()
    fields = {
        "label": "around the change", "trigger_type": "schedule", "definition_key": "noop", "missed": "all",
        "cron_expr": "30 1,2,3 * * *", "timezone": "America/New_York",
    }  # fmt: skip
    with shifted(pg, f"{before} seconds"):
        promised = [run.due for run in drive(pg, create(fields)).next_runs]
    async with upkeep(dsn, f"{before + 5 * 86400} seconds") as rounds:
        await rounds.schedule()
    assert len(promised) == 10
    assert many(pg, "select due from postmill.tick order by due")[:10] == promised


async def test_a_scheduler_that_slept_changes_nothing(pg: Conn, dsn: str) -> None:
    ids = [trigger(pg, f"t{n}") for n in range(20)]
    for id in ids:
        due_at(pg, id, "0 s")
    async with upkeep(dsn) as sleeper, upkeep(dsn) as other:
        link = sleeper.links[0]
        seen = await link.drive(once(due_triggers(None, 100)))
        work = await link.drive(work_for("postmill", seen))
        await other.schedule()
        answers = await link.drive(once(fire_ticks(work.ticks)))
        assert {it.outcome for it in answers} == {"stale"}
        # Even where the schedule stands where it saw it: the tick has its row.
        pg.execute("update postmill.trigger set next_run_at = %s", (work.ticks[0].facts["expected"],))
        answers = await link.drive(once(fire_ticks(work.ticks)))
        assert {it.outcome for it in answers} == {"stale"}
    assert one(pg, "select count(*) from postmill.job") == 20


async def test_editing_one_fires_no_other_and_a_pause_is_not_made_up_for(pg: Conn, dsn: str) -> None:
    paused = trigger(pg, "paused", missed="all", is_enabled=False)
    due_at(pg, paused, "3 days")
    edited, other = trigger(pg, "edited"), trigger(pg, "other")
    async with upkeep(dsn) as rounds:
        await rounds.schedule()
        before = one(pg, "select next_run_at from postmill.trigger where id = %s", other)
        pg.execute("update postmill.trigger set cron_expr = '0 4 * * *' where id = %s", (edited,))
        pg.execute("update postmill.trigger set is_enabled = true where id = %s", (paused,))
        await rounds.schedule()
    assert one(pg, "select next_run_at from postmill.trigger where id = %s", other) == before
    assert one(pg, "select next_run_at > postmill.now() from postmill.trigger where id = %s", paused)
    assert one(pg, "select count(*) from postmill.tick") == 0


async def test_what_a_tick_does_while_the_job_before_is_not_over(pg: Conn, dsn: str) -> None:
    ids = {
        name: trigger(pg, name, overlap=name, dedupe_window_seconds=0)
        for name in ("allow", "skip", "cancel_previous")
    }
    for _ in range(2):
        pg.execute(
            "update postmill.trigger set next_run_at = coalesce(last_run_at + interval '1 second',"
            " date_trunc('second', postmill.now()) - interval '2 seconds')"
        )
        async with upkeep(dsn) as rounds:
            await rounds.schedule()
    assert {name: many(pg, TICKS, id)[:2] for name, id in ids.items()} == {
        "allow": ["enqueued", "enqueued"],
        "skip": ["enqueued", "skipped"],
        "cancel_previous": ["enqueued", "enqueued"],
    }
    states = """select s.state from postmill.tick k cross join lateral postmill.job_state(array[k.job_id]) s
                 where k.trigger_id = %s order by k.due limit 2"""
    assert many(pg, states, ids["cancel_previous"]) == ["canceled", "queued"]


async def test_the_window_counts_from_due_moment_to_due_moment(pg: Conn, dsn: str) -> None:
    columns = {"missed": "all", "dedupe_window_seconds": 120}
    same = trigger(pg, "same", payload={"a": 1}, **columns)
    changing = trigger(pg, "changing", payload={"at": "{{ schedule.due }}"}, **columns)
    for id in (same, changing):
        due_at(pg, id, "4 minutes")
    async with upkeep(dsn) as rounds:
        await rounds.schedule()
    assert many(pg, TICKS, same)[:5] == ["enqueued", "duplicate", "enqueued", "duplicate", "enqueued"]
    assert many(pg, TICKS, changing)[:5] == ["enqueued"] * 5
    first, second = many(
        pg, "select job_id from postmill.tick where trigger_id = %s order by due limit 2", same
    )
    assert first == second


async def test_a_template_that_does_not_fit_marks_its_trigger(pg: Conn, dsn: str) -> None:
    pg.execute(
        """update postmill.job_definition set arg_schema = '{"type": "object", "required": ["n"]}' where key = 'other'"""
    )
    ids = [
        trigger(pg, "undefined", payload={"a": "{{ schedule.nothing }}"}, every="1 minute"),
        trigger(pg, "no payload of its type", job="other", every="1 minute"),
    ]
    for id in ids:
        due_at(pg, id, "0 s")
    async with upkeep(dsn) as rounds:
        await rounds.schedule()
        for id in ids:
            outcome, detail, job = one(
                pg, "select outcome, detail, job_id from postmill.tick where trigger_id = %s", id
            )
            assert (outcome, job) == ("failed", None)
            assert one(pg, "select error from postmill.trigger where id = %s", id) == detail
    pg.execute("""update postmill.trigger set payload_template = '{"n": 1}'""")
    pg.execute("update postmill.trigger set next_run_at = last_run_at - interval '1 second'")
    async with upkeep(dsn) as rounds:
        await rounds.schedule()
    assert many(pg, "select error from postmill.trigger") == [None, None]
    assert one(pg, "select count(*) from postmill.job") == 2


async def test_one_that_the_database_refuses_stops_nobody(pg: Conn, dsn: str) -> None:
    pg.execute("""
        create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not this one'; end $$;
        create trigger refuse before insert on postmill.tick for each row when (new.trigger_id::text like '%0')
            execute function refuse()""")
    ids = [trigger(pg, f"t{n}") for n in range(40)]
    for id in ids:
        due_at(pg, id, "0 s")
    async with upkeep(dsn) as rounds:
        await rounds.schedule()
        told = {it.trigger_id for it in rounds.told if isinstance(it, TriggerBroken)}
    refused = {id for id in ids if str(id).endswith("0")}
    assert told == refused
    assert set(many(pg, "select id from postmill.trigger where broken")) == refused
    assert set(many(pg, "select trigger_id from postmill.tick")) == set(ids) - refused


async def test_jitter_delays_the_job_and_not_the_tick(pg: Conn, dsn: str) -> None:
    for n in range(20):
        due_at(pg, trigger(pg, f"t{n}", jitter_seconds=3600), "0 s")
    async with upkeep(dsn) as rounds:
        await rounds.schedule()
    least, most, different = one(
        pg,
        "select min(j.scheduled_for - k.due), max(j.scheduled_for - k.due), count(distinct j.scheduled_for)"
        " from postmill.tick k join postmill.job j on j.id = k.job_id",
    )
    assert 0 <= least.total_seconds() <= most.total_seconds() <= 3600
    assert different >= 15


async def test_a_suspended_tenants_ticks_are_left_out(pg: Conn, dsn: str) -> None:
    id = trigger(pg, "t")
    due_at(pg, id, "0 s")
    pg.execute("update postmill.tenant set status = 'suspended'")
    async with upkeep(dsn) as rounds:
        await rounds.schedule()
    assert one(pg, "select outcome, detail from postmill.tick") == ("skipped", "the tenant is suspended")


async def test_a_round_that_is_locked_out_does_nothing(pg: Conn, dsn: str, database: Database) -> None:
    due_at(pg, trigger(pg, "t"), "0 s")
    with database.connect() as holder, holder.transaction():
        holder.execute("select pg_advisory_xact_lock(hashtextextended('postmill.schedule', 0))")
        async with upkeep(dsn) as rounds:
            assert await rounds.scheduler.guarded() == pytest.approx(0.1)
    assert one(pg, "select count(*) from postmill.tick") == 0


async def test_a_row_that_somebody_edits_waits_alone(pg: Conn, dsn: str, database: Database) -> None:
    ids = [trigger(pg, f"t{n}") for n in range(3)]
    for id in ids:
        due_at(pg, id, "0 s")
    with database.connect() as editor, editor.transaction():
        editor.execute("update postmill.trigger set label = 'edited' where id = %s", (ids[1],))
        async with upkeep(dsn) as rounds:
            await rounds.scheduler.guarded()
        assert set(many(pg, "select trigger_id from postmill.tick")) == {ids[0], ids[2]}
    async with upkeep(dsn) as rounds:
        await rounds.schedule()
    assert set(many(pg, "select trigger_id from postmill.tick")) == set(ids)
