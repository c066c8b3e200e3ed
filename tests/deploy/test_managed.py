"""A database as managed ones are: its owner may make roles and databases, but is no superuser."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from postmill import job
from postmill.bind import run
from postmill.store.access import entrances
from tests.cli.support import cli
from tests.support.databases import Database
from tests.support.workers import enqueue, state, until, working


@job
async def ping() -> str:
    return "pong"


async def test_the_owner_need_not_be_a_superuser(
    empty_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    owner, server = f"owner_{empty_database.name}", f"server_{empty_database.name}"
    dsn = make_conninfo(empty_database.dsn, user=owner)
    with empty_database.connect() as conn:
        conn.execute(f"create role {owner} login createrole")
        conn.execute(f"alter database {empty_database.name} owner to {owner}")
        # Another test's database may have made these, with somebody else as their administrator.
        for name in ("postmill_request", "postmill_reader"):
            if conn.execute("select from pg_roles where rolname = %s", [name]).fetchone() is not None:
                conn.execute(f"grant {name} to {owner} with admin option")
        try:
            assert cli("migrate", dsn=dsn).code == 0
            async with working(dsn, ping), await psycopg.AsyncConnection.connect(dsn, autocommit=True) as own:
                id: UUID = await enqueue(own, "ping")

                async def succeeded() -> bool:
                    return await state(own, id) == "succeeded"

                await until(succeeded)
            told = {one["check"]: one for one in cli("doctor", "--json", dsn=dsn).json["checks"]}
            assert [one for one in told.values() if one["level"] == "fail"] == []
            with psycopg.connect(dsn, autocommit=True) as own:
                assert run(own, entrances()).unsecured is None
                own.execute(f"create role {server} login")
                own.execute("select postmill.grant_server(%s)", [server])
        finally:
            conn.execute("drop schema if exists postmill cascade")
            conn.execute(f"alter database {empty_database.name} owner to postgres")
            for name in (server, owner):
                if conn.execute("select from pg_roles where rolname = %s", [name]).fetchone() is not None:
                    conn.execute(
                        f"reassign owned by {name} to postgres; drop owned by {name}; drop role {name}"
                    )
