"""Connections are opened in one place, which knows what a pooler bears."""

from __future__ import annotations

import re
from pathlib import Path
from time import monotonic

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import PoolTimeout

from postmill import connections
from tests.support.databases import Database
from tests.support.eventually import eventually

PACKAGE = Path(__file__).parents[2] / "src" / "postmill"

OPENS = re.compile(r"psycopg\.connect\(|Connection\.connect\(|ConnectionPool\(|ConnectionPool\[\w+\]\(")


def test_connections_are_opened_in_one_place() -> None:
    """But for the benchmarks, which measure a direct way and what others do."""
    found = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if OPENS.search(file.read_text()) and "bench" not in file.parts
    }
    assert found == {"connections.py"}


@pytest.mark.long
def test_a_pool_finds_a_database_that_was_away_for_long(database: Database) -> None:
    """Not when the next of ever rarer attempts is due, but when somebody asks."""
    name = f"{conninfo_to_dict(database.dsn)['dbname']}_away"
    away, began = make_conninfo(database.dsn, dbname=name), monotonic()
    with (
        database.connect() as conn,
        connections.pool(away, "away", prepared=False, min_size=2, max_size=2, timeout=2.5) as pool,
    ):
        pool.open()
        with pytest.raises(PoolTimeout):
            pool.getconn()
        # The default would try after 1, 3, 7 and 15 s.
        eventually(lambda: monotonic() > began + 8.5, timeout=10)
        conn.execute(f'create database "{name}"')
        try:
            with pool.connection() as back:
                assert back.execute("select 1").fetchone() == (1,)
        finally:
            pool.close()
            conn.execute(f'drop database "{name}" with (force)')


def test_a_pool_does_not_try_for_minutes() -> None:
    """The short form of the one above."""
    assert connections.pool("", "away", prepared=False, min_size=1).reconnect_timeout <= 5
    assert connections.apool("", "away", prepared=False, min_size=1).reconnect_timeout <= 5
