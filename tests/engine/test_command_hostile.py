"""Hostile payloads against stored commands: argv is exact, nothing else runs, nothing is left, and memory stays flat."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psutil
import pytest
from psycopg import AsyncConnection

from postmill import NewJob, aenqueue, aenqueue_many
from postmill.domain.errors import PayloadRefused
from tests.engine.hostile import harmless, refused
from tests.support.databases import Database
from tests.support.programs import Programs, define
from tests.support.workers import until, working

Conn = AsyncConnection[Any]

SCHEMA = {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]}
TEMPLATE = ["show", "first", "{payload.value}", "--tenant-id", "{tenant_id}"]
TENANT = "00000000-0000-0000-0000-000000000001"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    return Programs(tmp_path, monkeypatch)


async def left(conn: Conn) -> int:
    cursor = await conn.execute(
        "select (select count(*) from postmill.ready) + (select count(*) from postmill.running)"
        " + (select count(*) from postmill.scheduled)"
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def drained(conn: Conn, seconds: float) -> None:
    async def done() -> bool:
        return await left(conn) == 0

    await until(done, seconds)


async def statuses(conn: Conn) -> dict[str, int]:
    cursor = await conn.execute("select status, count(*) from postmill.jobs group by 1")
    return dict(await cursor.fetchall())


async def exact(
    database: Database, conn: Conn, programs: Programs, values: list[str], seconds: float
) -> None:
    """Each value arrives as one argument, byte for byte."""
    programs.make("show")
    await define(conn, "show", argv_template=TEMPLATE, arg_schema=SCHEMA)
    await aenqueue_many(conn, [NewJob.of("show", {"value": value}) for value in values])
    async with working(database.dsn, queues={"default": 4}):
        await drained(conn, seconds)
    assert await statuses(conn) == {"succeeded": len(values)}
    found = [[argument.encode("latin-1").decode() for argument in call] for call in programs.calls("show")]
    assert sorted(found) == sorted(["first", value, "--tenant-id", TENANT] for value in values)
    assert not (programs.folder / "pwn").exists()


async def test_what_no_command_is_given(apg: Conn) -> None:
    await define(apg, "show", argv_template=TEMPLATE, arg_schema=SCHEMA)
    for value in refused():
        with pytest.raises(PayloadRefused, match=r"value|args"):
            await aenqueue(apg, NewJob.of("show", {"value": value}))
    assert await left(apg) == 0


async def test_a_sample_arrives_exactly(database: Database, apg: Conn, programs: Programs) -> None:
    values = harmless(str(programs.folder / "pwn"))
    await exact(database, apg, programs, values[:: len(values) // 20], 60)


@pytest.mark.long
async def test_three_hundred_arrive_exactly_or_not_at_all(
    database: Database, apg: Conn, programs: Programs
) -> None:
    values = harmless(str(programs.folder / "pwn"))
    assert len(values) + len(refused()) >= 300
    await exact(database, apg, programs, values, 600)


FORKS = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for n in range({children}):
    if os.fork() == 0:
        if n % 2:
            os.setsid()  # out of the group, as a daemon does it
        time.sleep(600)
"""
FLOOD = """
piece = b"x" * (1 << 20)
for _ in range({mib}):
    os.write(1, piece)
    os.write(2, piece)
"""


async def behaved(
    database: Database, conn: Conn, programs: Programs, *, mib: int, children: int, each: int
) -> None:
    """Programs that fork, ignore SIGTERM and flood their outputs: none outlives its job, and the worker stays small."""
    programs.make("flood", FLOOD.format(mib=mib))
    programs.make("forks", FORKS.format(children=children))
    programs.make("deaf", FORKS.format(children=children) + "time.sleep(600)")
    await define(conn, "flood", argv_template=["flood"])
    await define(conn, "forks", argv_template=["forks"])
    await define(conn, "deaf", argv_template=["deaf"], timeout_seconds=0.2, max_attempts=1)
    me = psutil.Process()
    before = {child.pid for child in me.children(recursive=True)}
    async with working(database.dsn, queues={"default": 4}, grace=0.2):
        await aenqueue(conn, NewJob.of("flood"))
        await drained(conn, 60)  # imports and first allocations are not what is measured
        small = me.memory_info().rss
        await aenqueue_many(
            conn, [NewJob.of(name) for name in ("flood", "forks", "deaf") for _ in range(each)]
        )
        await drained(conn, 600)
        assert me.memory_info().rss - small < 32 << 20
    assert await statuses(conn) == {"succeeded": 2 * each + 1, "dead_letter": each}
    cursor = await conn.execute(
        "select max(length(stdout_tail)), max(length(stderr_tail)) from postmill.job_attempts"
    )
    assert await cursor.fetchone() == (16384, 16384)
    # The server of this test's process, which starts and ends its own, is one of the children.
    await until(lambda: {child.pid for child in me.children(recursive=True)} <= before)
    left_behind = [
        p.pid
        for p in psutil.process_iter(["cmdline"])
        if str(programs.folder) in " ".join(p.info["cmdline"] or [])
    ]
    assert left_behind == []
    assert me.pid == os.getpid()


async def test_wild_programs_end_with_their_jobs(database: Database, apg: Conn, programs: Programs) -> None:
    await behaved(database, apg, programs, mib=20, children=4, each=2)


@pytest.mark.long
async def test_wild_programs_by_the_hundred(database: Database, apg: Conn, programs: Programs) -> None:
    """A pipe of 1 GB each, and children by the dozen."""
    await behaved(database, apg, programs, mib=512, children=12, each=20)
