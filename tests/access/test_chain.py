"""The chain of the audit log: each row sealed once, late ones too; whatever is changed, taken out or put in is found."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection

from postmill.bind import adrive
from postmill.domain.audit import GENESIS, Anchor, AuditBroken, Link, chain_hash, follow
from postmill.operate.audit import verify
from tests.access.sealing import sealer
from tests.support.databases import Database
from tests.support.eventually import aeventually
from tests.support.workers import working

pytestmark = pytest.mark.matrix

Conn = AsyncConnection[Any]


async def note(conn: Conn, action: str, **after: Any) -> None:
    await conn.execute(
        "select postmill.audit(%s, 'thing', 'a thing', null, null, %s)",
        (action, psycopg.types.json.Jsonb(after)),
    )


async def seal(database: Database) -> None:
    async with sealer(database.dsn) as round:
        await round.guarded()


async def broken(conn: Conn, *anchors: Anchor) -> AuditBroken:
    with pytest.raises(AuditBroken) as caught:
        await adrive(conn, verify(anchors))
    return caught.value


async def tamper(conn: Conn, *statements: str) -> None:
    """As an owner who wants to: triggers and keys off."""
    await conn.execute("set session_replication_role = replica")
    for statement in statements:
        await conn.execute(statement.encode())
    await conn.execute("set session_replication_role = origin")


async def filled(apg: Conn, database: Database, n: int = 5) -> None:
    for number in range(n):
        await note(apg, f"act.{number}", number=number, text="é \u2028", nested={"b": [1, 2.50], "a": None})
    await seal(database)


async def test_what_was_written_verifies_and_its_end_is_an_anchor(apg: Conn, database: Database) -> None:
    assert (await adrive(apg, verify())).n == 0
    await filled(apg, database)
    end = await adrive(apg, verify())
    assert end.n == 5
    await note(apg, "more")
    await seal(database)
    later = await adrive(apg, verify([end, Anchor.parse(str(end))]))
    assert later.n == 6
    # The same in another session's time zone and settings: the text of a row is its own.
    await apg.execute(
        "set timezone = 'Asia/Kathmandu'; set datestyle = 'SQL, DMY'; set extra_float_digits = -3"
    )
    assert await adrive(apg, verify([end, later])) == later


async def test_rows_are_sealed_in_the_order_of_their_commits_however_late(
    apg: Conn, database: Database
) -> None:
    async with await database.aconnect() as late:
        async with late.transaction():
            await note(late, "late")
            await note(apg, "quick")
            await seal(database)
            assert (await adrive(apg, verify())).n == 1  # what is not committed is not missed
        await seal(database)
    assert (await adrive(apg, verify())).n == 2
    rows = await (await apg.execute(
        "select l.action from postmill.audit_chain c join postmill.audit_log l on l.id = c.audit_id order by c.n"
    )).fetchall()  # fmt: skip
    assert rows == [("quick",), ("late",)]


async def test_many_workers_seal_each_row_once(apg: Conn, database: Database) -> None:
    async def write(n: int) -> None:
        async with await database.aconnect() as conn:
            for number in range(20):
                await note(conn, f"act.{n}.{number}")

    async def work(n: int) -> None:
        async with sealer(database.dsn, f"worker {n}") as round:
            while not done.is_set():
                await round.guarded()

    done = asyncio.Event()
    workers = [asyncio.create_task(work(n)) for n in range(4)]
    await asyncio.gather(*(write(n) for n in range(4)))
    done.set()
    await asyncio.gather(*workers)
    await seal(database)
    row = await (await apg.execute(
        "select count(*), count(distinct audit_id), min(n), max(n) from postmill.audit_chain"
    )).fetchone()  # fmt: skip
    assert row == (80, 80, 1, 80)
    assert (await adrive(apg, verify())).n == 80
    assert await (await apg.execute("select from postmill.audit_unsealed")).fetchall() == []


async def test_workers_do_it_by_themselves(apg: Conn, database: Database) -> None:
    """And what logins left behind goes with their sweeps."""
    await note(apg, "act")
    await apg.execute(
        "insert into postmill.login_link (hash, actor_id, role, expires_at)"
        " values (sha256('x'), 'x', 'super_admin', now() - interval '8 days')"
    )

    async def done() -> bool:
        row = await (await apg.execute(
            "select (select count(*) from postmill.audit_chain), (select count(*) from postmill.login_link)"
        )).fetchone()  # fmt: skip
        return row == (1, 0)

    async with working(database.dsn):
        await aeventually(done, 20.0)
    assert (await adrive(apg, verify())).n == 1


CHANGES = {
    "a field changed": ("update postmill.audit_log set actor_id = 'nobody' where action = 'act.2'", 3),
    "a moment changed": ("update postmill.audit_log set at = at - interval '1 microsecond' where action = 'act.0'", 1),
    "a value deep inside changed": (
        "update postmill.audit_log set after = jsonb_set(after, '{nested,b,0}', '7') where action = 'act.3'", 4
    ),
    "a result changed": ("update postmill.audit_log set result = 'denied' where action = 'act.4'", 5),
    "a row taken out": ("delete from postmill.audit_log where action = 'act.1'", 2),
    "a row and its link taken out": (
        ("with gone as (delete from postmill.audit_log where action = 'act.1' returning id)"
        " delete from postmill.audit_chain where audit_id in (select id from gone)"), 2
    ),
    "the last row and its link taken out": (
        ("with gone as (delete from postmill.audit_log where action = 'act.4' returning id)"
        " delete from postmill.audit_chain where audit_id in (select id from gone)"), 5
    ),
    "a link changed": ("update postmill.audit_chain set hash = sha256('x') where n = 3", 3),
    "two rows exchanged": (
        ("update postmill.audit_log l set action = case action when 'act.1' then 'act.2' else 'act.1' end"
        " where action in ('act.1', 'act.2')"), 2
    ),
    "everything taken out": ("delete from postmill.audit_chain", 1),
    "a row put in": (
        ("insert into postmill.audit_log select postmill.new_id(), at, tenant_id, 'user', 'eve', role, via, 'forged',"
        " target_kind, target, result, reason, request_id, before, after, db_role from postmill.audit_log limit 1"), None
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
async def test_tampering_is_found_and_the_first_place_named(apg: Conn, database: Database, what: str) -> None:
    await filled(apg, database)
    statement, n = CHANGES[what]
    await tamper(apg, statement)
    fault = await broken(apg)
    assert fault.n == n, str(fault)
    if n is None:
        assert "forged" in str(fault)


async def test_who_writes_the_whole_chain_anew_is_found_by_an_anchor(apg: Conn, database: Database) -> None:
    await filled(apg, database)
    kept = await adrive(apg, verify())
    await tamper(
        apg,
        "update postmill.audit_log set actor_id = 'nobody' where action = 'act.2'",
        "insert into postmill.audit_unsealed select audit_id from postmill.audit_chain",
        "delete from postmill.audit_chain",
        "update postmill.upkeep set note = null where name = 'seal'",
    )
    await seal(database)
    assert (await adrive(apg, verify())).n == 5  # it agrees with itself
    assert (await broken(apg, kept)).n == 5


async def test_the_log_takes_no_changes_from_anybody(apg: Conn, database: Database) -> None:
    """Not even by the owner's own mistake."""
    await filled(apg, database, 1)
    for statement in (
        "update postmill.audit_log set actor_id = 'x'",
        "delete from postmill.audit_log",
        "truncate postmill.audit_log cascade",
        "delete from postmill.audit_chain",
        "update postmill.audit_chain set n = 7",
    ):
        with pytest.raises(psycopg.errors.RestrictViolation, match="stays as it was written"):
            await apg.execute(statement.encode())


async def test_the_databases_own_word_cannot_be_set(apg: Conn) -> None:
    """A session may say whatever it likes of its actor; the role that logged in stands beside it."""
    await apg.execute("select set_config('postmill.actor_id', 'the director', false)")
    await note(apg, "claimed")
    row = await (await apg.execute("select actor_id, db_role, via from postmill.audit_log")).fetchone()
    assert row == ("the director", "postgres", "sql")


def test_following_by_hand() -> None:
    first = chain_hash(GENESIS, "a")
    links = [Link(1, "x", first, "a"), Link(2, "y", chain_hash(first, "b"), "b")]
    end = follow(links, Anchor(0, GENESIS))
    assert Anchor.parse(str(end)) == end
    for bad in ("", "1", "1:00", "x:" + "0" * 64, "1:" + "g" * 64):
        with pytest.raises(ValueError, match=r"non-hexadecimal|no anchor"):
            Anchor.parse(bad)


async def test_the_chain_of_a_pruned_log_verifies_from_where_it_begins(apg: Conn, database: Database) -> None:
    """What is past its retention goes, from the beginning and to the archive; nobody else takes a row out."""
    await apg.execute("select set_config('postmill.clock_offset', '-800 days', false)")
    await filled(apg, database, 5)
    first = await adrive(apg, verify())
    await apg.execute("select set_config('postmill.clock_offset', '0', false)")
    await note(apg, "young")
    await seal(database)
    end = await adrive(apg, verify([first]))
    await apg.execute("update postmill.archive_state set required = true")
    await apg.execute("select postmill.prune_audit(3)")
    await apg.execute("select postmill.prune_audit(1000)")
    assert await (await apg.execute("select postmill.prune_audit(1000)")).fetchone() == (0,)
    start = await (await apg.execute("select n, hash from postmill.audit_start")).fetchone()
    assert start == (5, first.hash)
    kept = await (await apg.execute("select action from postmill.audit_log order by at")).fetchall()
    assert kept == [("young",), ("audit.prune",), ("audit.prune",)]
    await seal(database)
    assert (await adrive(apg, verify([first, end]))).n == 8
    assert "anchor" in str(await broken(apg, Anchor(5, bytes(32))))
    rows = await (await apg.execute("select fields from postmill.leaving order by n")).fetchall()
    assert [row[0][-2] for row in rows] == ["1", "2", "3", "4", "5"]
    assert rows[-1][0][-1] == first.hash.hex()
    for statement in (
        "delete from postmill.audit_log",
        "delete from postmill.audit_chain",
        "truncate postmill.audit_chain",
    ):
        with pytest.raises(psycopg.errors.RestrictViolation):
            await apg.execute(statement.encode())
    # A log of which nothing is left is gone on with where it ended.
    await apg.execute("select set_config('postmill.clock_offset', '900 days', false)")
    await apg.execute("select postmill.prune_audit(1000)")
    assert await (await apg.execute("select count(*) from postmill.audit_chain")).fetchone() == (0,)
    await seal(database)
    assert (await adrive(apg, verify())).n == 9
