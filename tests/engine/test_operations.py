"""Operations as workers carry them out: a rate, a canary, what one bad letter does to the others, and whose they are."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg

from postmill.bind import adrive
from postmill.domain.job_type import job
from postmill.domain.letters import LetterFilter
from postmill.domain.pace import Pace
from postmill.operate import operations
from postmill.store.operations import Operation
from tests.support.databases import Database
from tests.support.workers import until, working

Conn = psycopg.AsyncConnection[Any]

EMBED = """select * from postmill.register_job_types(
    '[{"key": "embed", "max_attempts": 1}, {"key": "asked", "replay_class": "ask"}]')"""
BURY = """
insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, attempts, failed_at)
select t.id, t.lane, t.queue, t.lane, t.priority, 1, 1, 0, %s, 1, postmill.now()
  from postmill.ready t join postmill.any_job j on j.id = t.id where j.job_type = %s and t.id = any(%s)"""


@job(max_attempts=1)
def embed(n: int) -> int:
    """Fails for 13."""
    if n == 13:
        raise ValueError("no luck")
    return n


@job(replay_class="ask")
def asked(n: int) -> int:
    return n


async def bury(conn: Conn, payloads: list[str], reason: str = "quota", job_type: str = "embed") -> list[UUID]:
    """Dead letters with these payloads, in this order."""
    made = []
    for payload in payloads:
        cursor = await conn.execute("select postmill.enqueue(%s, %s::jsonb)", [job_type, payload])
        made.append((await cursor.fetchone() or [])[0])
    await conn.execute(BURY, [reason, job_type, made])
    await conn.execute("delete from postmill.ready where id = any(%s)", [made])
    return made


async def start(conn: Conn, kind: Any = "replay", *, pace: Pace | None = None, **chosen: Any) -> UUID:
    begun = await adrive(conn, operations.start(kind, LetterFilter(**chosen), pace, actor_id="ann"))
    assert begun.id is not None
    return begun.id


async def stands(conn: Conn, id: UUID) -> Operation:
    return await adrive(conn, operations.operation(id))


async def told(conn: Conn, id: UUID) -> dict[UUID, str]:
    found = await adrive(conn, operations.items(id, most=10_000))
    return {item.job_id: item.status for item in found}


async def is_now(conn: Conn, id: UUID, status: str, seconds: float = 30.0) -> Operation:
    async def so() -> bool:
        return (await stands(conn, id)).status == status

    await until(so, seconds)
    return await stands(conn, id)


async def test_a_canary_stops_or_opens_the_way(apg: Conn, database: Database) -> None:
    """The rest waits for the first; one that does not succeed pauses it; whoever resumes has looked."""
    await apg.execute(EMBED)
    good = await bury(apg, [f'{{"n": {n}}}' for n in range(8)], "good")
    bad = await bury(apg, ['{"n": 13}', *(f'{{"n": {n}}}' for n in range(20, 25))], "bad")
    async with working(database.dsn, embed):
        well = await start(apg, reason="good", pace=Pace(canary=2))
        ill = await start(apg, reason="bad", pace=Pace(canary=1))
        found = await is_now(apg, well, "finished")
        assert (found.done, found.skipped, found.failed, found.stage) == (8, 0, 0, "rest")
        found = await is_now(apg, ill, "paused")
        assert (found.done, found.pause_reason) == (1, "canary: 1 of 1 did not succeed")
        assert list((await told(apg, ill)).values()) == ["replayed"] + ["waiting"] * 5
        await adrive(apg, operations.change(ill, "resume", actor_id="bob"))
        await is_now(apg, ill, "finished")

        async def all_done() -> bool:
            return (await adrive(apg, operations.results(ill))) == {"succeeded": 5, "dead_letter": 1}

        await until(all_done)
    rows = await apg.execute(
        "select action, via, actor_id, reason from postmill.audit_log where target = %s order by at, id",
        [str(ill)],
    )
    assert await rows.fetchall() == [
        ("operations.start", "sql", "ann", None),
        ("operations.pause", "upkeep", "ann", "canary: 1 of 1 did not succeed"),
        ("operations.resume", "sql", "bob", None),
        ("operations.finish", "upkeep", "ann", None),
    ]
    cursor = await apg.execute(
        "select actor_id, via, count(*) from postmill.audit_log where action = 'dead.replay' group by 1, 2"
    )
    assert await cursor.fetchall() == [("ann", "upkeep", 14)]
    first = await apg.execute(
        "select job_id from postmill.operation_item where operation_id = %s order by n", [well]
    )
    assert {row[0] for row in await first.fetchall()} == set(good)
    assert await told(apg, ill) == dict.fromkeys(bad, "replayed")


async def test_one_bad_letter_stops_no_other(apg: Conn, database: Database) -> None:
    """A payload that its definition no longer takes, an error of the database, one that was replayed meanwhile, one that
    has a twin which succeeded, one that wants to be asked: each is told of, and the rest is done."""
    await apg.execute(EMBED)
    letters = await bury(apg, [f'{{"n": {n}}}' for n in range(30)])
    unfit, broken, replayed, twin = letters[3], letters[7], letters[11], letters[17]
    (unasked,) = await bury(apg, ['{"n": 1}'], job_type="asked")
    await apg.execute("""update postmill.job set payload = '{"n": "three"}' where id = %s""", [unfit])
    await apg.execute(
        """update postmill.job_definition set arg_schema = '{"properties": {"n": {"type": "integer"}}}'"""
    )
    await apg.execute(
        "create function spoil() returns trigger language plpgsql as $$ begin if new.replayed_from = "
        f"'{broken}' then raise exception 'spoiled'; end if; return new; end $$"
    )
    await apg.execute(
        "create trigger spoil before insert on postmill.job for each row execute function spoil()"
    )
    begun = await start(apg, reason="quota")
    await apg.execute("select * from postmill.replay_jobs(%s)", [[replayed]])
    await apg.execute("select postmill.enqueue('embed', '{\"n\": 17}')")
    async with working(database.dsn, embed, asked, upkeep=False):

        async def two_succeeded() -> bool:
            cursor = await apg.execute("select count(*) from postmill.outcome where status = 'succeeded'")
            return ((await cursor.fetchone()) or [0])[0] == 2

        await until(two_succeeded)
        async with working(database.dsn, work=False):
            found = await is_now(apg, begun, "finished")
    answers = await told(apg, begun)
    assert answers.pop(unfit) == "invalid"
    assert answers.pop(broken) == "error"
    assert answers.pop(replayed) == "already_replayed"
    assert answers.pop(twin) == "succeeded_since"
    assert answers.pop(unasked) == "unconfirmed"
    assert set(answers.values()) == {"replayed"}
    assert (found.total, found.done, found.skipped, found.failed) == (31, 26, 3, 2)
    details = await adrive(apg, operations.items(begun, status="error"))
    assert details[0].detail == "spoiled"


async def test_a_rate_is_kept_and_a_discard_is_an_operation_too(apg: Conn, database: Database) -> None:
    await apg.execute(EMBED)
    letters = await bury(apg, [f'{{"n": {n}}}' for n in range(40)])
    later = await bury(apg, ['{"n": 1}'], "later")
    begun = await start(apg, "discard", pace=Pace(rate=30.0), reason="quota")
    await apg.execute("update postmill.dead_letter set reason = 'quota' where id = any(%s)", [later])
    async with working(database.dsn, work=False):
        found = await is_now(apg, begun, "finished")
    assert (found.done, found.total) == (40, 40)
    cursor = await apg.execute(
        "select extract(epoch from max(at) - min(at))::float8, max(n), count(*) from (select at, count(*) as n"
        " from postmill.operation_item group by 1) x"
    )
    spread, most, steps = await cursor.fetchone() or (0, 0, 0)
    assert spread >= 40 / 30 - 1.2  # a stop of the machine is made up for by a second's worth
    assert most <= 32
    assert steps >= 2
    cursor = await apg.execute("select job_id, status from postmill.outcome")
    assert dict(await cursor.fetchall()) == dict.fromkeys(letters, "failed")
    cursor = await apg.execute("select id from postmill.dead_letter")
    assert [row[0] for row in await cursor.fetchall()] == later  # selected at the start, and never anew


async def test_a_tenant_starts_sees_and_steers_its_own_only(apg: Conn) -> None:
    await apg.execute(EMBED)
    ids = []
    for slug in ("ada", "bob"):
        cursor = await apg.execute(
            "insert into postmill.tenant (id, slug, name) values (postmill.new_id(), %s, %s) returning id",
            [slug, slug],
        )
        ids.append(((await cursor.fetchone()) or [None])[0])
        await apg.execute("select postmill.enqueue('embed', '{\"n\": 1}', tenant => %s)", [ids[-1]])
    await apg.execute(BURY.replace("and t.id = any(%s)", ""), ["quota", "embed"])
    await apg.execute("delete from postmill.ready")
    ada, bob = ids

    async def within(tenant: UUID) -> None:
        await apg.execute(
            "select postmill.begin_request(%s, false, 'api', 'user', 'x', 'operator', null)", [tenant]
        )

    async with apg.transaction():
        await within(ada)
        assert (await adrive(apg, operations.preview(LetterFilter()))).count == 1
        assert (await adrive(apg, operations.statistics())).open == 1
        assert (await adrive(apg, operations.start("replay", LetterFilter(tenant_id=bob)))).status == "none"
        begun = await start(apg)
        assert (await stands(apg, begun)).total == 1
    async with apg.transaction():
        await within(bob)
        assert await adrive(apg, operations.operations()) == []
        assert await adrive(apg, operations.items(begun)) == []
        cursor = await apg.execute("select status from postmill.door_change_operation(%s, 'abort')", [begun])
        assert await cursor.fetchone() == ("unknown",)
    assert (await stands(apg, begun)).status == "running"
