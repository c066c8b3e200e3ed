"""A role or a database may have settings that would stop a worker, were they to hold for its connections."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from postmill import bind
from postmill.client import Client, enqueue_many
from postmill.domain.job_type import job
from postmill.domain.limit import Rate
from postmill.domain.policy import Constant
from postmill.domain.settings_artifacts import ArtifactSettings
from postmill.engine.context import Context
from postmill.engine.own_settings import with_settings
from postmill.operate.doctor.finding import Level
from postmill.operate.doctor.probe import Probe
from postmill.operate.doctor.server import check_settings
from postmill.store.registration import register_job_types
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import LeaseLost, ListenerLost, UpkeepFailed
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.pgbouncer import pooled
from tests.support.workers import enqueue, state, until, working

ROLE = "hostile"

# Of the engine's connections. What an application sets for its handlers' transactions is its own business.
HOSTILE = {
    "array_nulls": "off",
    "bytea_output": "escape",
    "client_encoding": "LATIN1",
    "datestyle": "SQL, DMY",
    "default_transaction_deferrable": "on",
    "default_transaction_isolation": "serializable",
    "default_transaction_read_only": "on",
    "extra_float_digits": "-15",
    "idle_in_transaction_session_timeout": "1ms",
    "idle_session_timeout": "100ms",
    "intervalstyle": "iso_8601",
    "jit": "on",
    "jit_above_cost": "0",
    "lock_timeout": "1ms",
    "search_path": "hostile, pg_catalog",
    "statement_timeout": "1ms",
    "timezone": "Asia/Kolkata",
    "transaction_timeout": "5ms",
}
# Seconds. Processes start here, and on a machine that has much else to do neither they nor a lease may be late.
PATIENCE = 100.0
LEASE = 120.0
TEXT = "Привіт, 世界"


@pytest.fixture
def hostile(database: Database, pg: Connection[Any]) -> Iterator[str]:
    """The URL of a worker's role with all of them, in a schema of which a function hides pg_catalog's."""
    pg.execute(f"drop role if exists {ROLE}")
    pg.execute(f"create role {ROLE} login; select postmill.grant_worker('{ROLE}')")
    pg.execute(f"create schema hostile authorization {ROLE}")
    pg.execute(
        "create function hostile.pg_notify(text, text) returns void language plpgsql as $$ begin raise 'hostile'; end $$"
    )
    known = {name for (name,) in pg.execute("select name from pg_settings").fetchall()}
    for name, value in HOSTILE.items():
        if name in known:
            pg.execute(
                SQL("alter role {} set {} to ").format(Identifier(ROLE), Identifier(name))
                + SQL(value if name == "search_path" else f"'{value}'")
            )
    yield make_conninfo(database.dsn, user=ROLE)
    pg.execute(f"drop owned by {ROLE} cascade; drop role {ROLE}")


@job
async def greet(text: str = TEXT) -> str:
    return text


@job(rate=Rate(1000, per=1.0))
async def paced() -> None: ...


@job(max_attempts=2, retry=Constant(0.01))
async def fails_once(ctx: Context) -> None:
    if ctx.attempt == 1:
        raise ValueError(TEXT)


@job(isolation="process")
def child() -> str:
    return TEXT


@job
async def forever(ctx: Context) -> None:
    while not ctx.cancel_requested:
        await asyncio.sleep(0.01)


async def test_a_worker_minds_no_settings_of_its_role(
    database: Database, pg: Connection[Any], hostile: str, tmp_path: Path
) -> None:
    bus, trouble = Bus(), []
    bus.subscribe(trouble.append, UpkeepFailed, ListenerLost, LeaseLost)
    store = ArtifactSettings(url=tmp_path.as_uri())
    types = (greet, paced, fails_once, child, forever)
    apg = await database.aconnect()
    async with apg, working(hostile, *types, bus=bus, lease=LEASE, artifacts=store) as worker:
        ids = [
            await enqueue(apg, name) for name in ("greet", "paced", "fails_once", "child") for _ in range(3)
        ]
        # More lanes at once than are rung one by one.
        ids += [await enqueue(apg, "greet", tenant=UUID(int=n), delay="0.3 s") for n in range(1, 30)]
        stays = await enqueue(apg, "forever")

        async def ended() -> bool:
            return {await state(apg, id) for id in ids} == {"succeeded"}

        await until(ended, PATIENCE)
        await apg.execute("select postmill.cancel_jobs(%s)", ([stays],))
        # These run when something is due, and nothing is.
        rounds = """select count(*) from postmill.upkeep where last_run_at is null
                     and name not in ('schedule', 'deliver', 'archive', 'budgets', 'dead_letters', 'escalate', 'operate')"""

        async def ran() -> bool:
            return await state(apg, stays) == "canceled" and not pg.execute(rounds).fetchone()[0]

        await until(ran, PATIENCE)
        result = pg.execute(
            "select result, stack from postmill.outcome where job_id = %s", [ids[0]]
        ).fetchone()
        assert result == (TEXT, None)
    assert trouble == []
    assert worker.counters.reconnects == 0
    invariants(pg)


async def test_behind_a_pooler_the_doctor_names_what_a_worker_cannot_change(
    database: Database, pg: Connection[Any], tmp_path: Path
) -> None:
    """A pooler passes no settings on. What only makes it slow is borne; what makes it impossible is named."""
    borne = {
        "datestyle": "SQL, DMY",
        "default_transaction_isolation": "repeatable read",
        "idle_in_transaction_session_timeout": "300ms",
        "idle_session_timeout": "300ms",
        "lock_timeout": "100ms",
        "statement_timeout": "300ms",
        "timezone": "Asia/Kolkata",
    }
    for name, value in borne.items():
        pg.execute(f"alter database {database.name} set {name} to '{value}'")
    with pooled(database, tmp_path) as dsn:
        async with (
            working(dsn, greet, paced, fails_once, prepared=False, listen_dsn=database.dsn, lease=LEASE),
            await database.aconnect(
                options=" ".join(f"-c {name}=0" for name in borne if "timeout" in name)
            ) as apg,
        ):
            ids = [await enqueue(apg, name) for name in ("greet", "paced", "fails_once") for _ in range(5)]
            ids += [await enqueue(apg, "greet", tenant=UUID(int=n), delay="0.3 s") for n in range(1, 20)]

            async def ended() -> bool:
                return {await state(apg, id) for id in ids} == {"succeeded"}

            await until(ended, PATIENCE)
        pg.execute(f"alter database {database.name} set default_transaction_read_only to on")
        pg.execute(f"alter database {database.name} set array_nulls to off")
    with (
        pooled(database, tmp_path) as dsn,
        psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as conn,
    ):
        found = check_settings(Probe(conn, "postmill", lambda: psycopg.connect(dsn)))
    assert found.level is Level.FAIL
    for word in (
        "array_nulls",
        "default_transaction_read_only",
        "default_transaction_isolation",
        "statement_timeout",
    ):
        assert word in found.advice
    with database.connect() as conn:
        assert check_settings(Probe(conn, "postmill", database.connect)).level is Level.OK
    invariants(pg)


def test_settings_of_the_url_and_the_environment_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGOPTIONS", "-c work_mem=1MB")
    assert with_settings("dbname=x").count("work_mem=1MB") == 1
    in_url = with_settings("postgresql://h/x?options=-c%20postmill.clock_offset%3D1h")
    assert ("clock_offset=1h" in in_url, "work_mem" in in_url) == (True, False)


def test_a_client_minds_neither_array_nulls_nor_datestyle(database: Database, pg: Connection[Any]) -> None:
    """As text, an array would hold the word NULL in place of none: a key, and one job for all without one."""
    with database.connect() as conn:
        conn.execute("set array_nulls = off; set datestyle = 'German'")
        bind.run(conn, register_job_types([greet]))
        made = enqueue_many(
            conn, [greet.new(), greet.new(), greet.using(key="NULL", actor_id="ann", priority=1).new()]
        )
        made += enqueue_many(
            conn, [greet.using(project=UUID(int=n)).new() if n else greet.new() for n in range(3)]
        )
        with Client(
            make_conninfo(database.dsn, options="-c datestyle=German -c intervalstyle=iso_8601")
        ) as client:
            assert client.get(made[0].id).created_at.tzinfo is not None
    rows = pg.execute("select idempotency_key, actor_id, project_id from postmill.any_job").fetchall()
    assert len({job.id for job in made}) == len(rows) == 6
    assert {row for row in rows if row != (None, None, None)} == {
        ("NULL", "ann", None),
        (None, None, UUID(int=1)),
        (None, None, UUID(int=2)),
    }
