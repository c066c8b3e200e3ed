"""What is no connection, or one of the other colour, is refused at once, by name; pools and engines get a hint."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from typing import Any
from uuid import UUID

import psycopg
import pytest

from postmill.bind import adrive, arun, drive, run
from postmill.client import acancel, aenqueue, aenqueue_many, cancel, enqueue, enqueue_many
from postmill.store.flow import once
from postmill.store.statement import Statement
from tests.bind.callers import Caller
from tests.bind.job_types import greet
from tests.support.databases import Database


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module: its tests are many and small."""
    return emptied


ONE = Statement("one", "select $1::int + $1::int, '50%'", (1,), lambda rows: tuple(rows[0]))


async def test_the_other_colour_is_refused_at_once(caller: Caller) -> None:
    if caller.awaits:
        with pytest.raises(TypeError, match="is asynchronous: await the function whose name begins with 'a'"):
            enqueue(caller.conn, greet.new())
        with pytest.raises(TypeError, match="is asynchronous"):
            enqueue_many(caller.conn, [greet.new()])
        with pytest.raises(TypeError, match="is asynchronous"):
            cancel(caller.conn, UUID(int=7))
    else:
        with pytest.raises(TypeError, match="is synchronous: call the function whose name has no 'a'"):
            await aenqueue(caller.conn, greet.new())
        with pytest.raises(TypeError, match="is synchronous"):
            await aenqueue_many(caller.conn, [greet.new()])
        with pytest.raises(TypeError, match="is synchronous"):
            await acancel(caller.conn, UUID(int=7))


async def test_parameters_may_repeat_and_percents_stay(caller: Caller) -> None:
    await caller.begin()
    if caller.awaits:
        assert await arun(caller.conn, ONE) == (2, "50%")
        assert await adrive(caller.conn, once(ONE)) == (2, "50%")
    else:
        assert run(caller.conn, ONE) == (2, "50%")
        assert drive(caller.conn, once(ONE)) == (2, "50%")
    await caller.rollback()


class Duck:
    """Has what a connection has, and is none."""

    def execute(self, *_: object) -> None:
        raise AssertionError("no duck typing")

    cursor = fetch = exec_driver_sql = execute


@pytest.mark.parametrize(
    "thing", [None, "postgresql://", Duck(), object()], ids=["none", "url", "duck", "object"]
)
async def test_what_is_no_connection_is_refused(thing: Any) -> None:
    with pytest.raises(TypeError, match=re.escape("known are: psycopg.Connection, SQLAlchemy Connection")):
        enqueue(thing, greet.new())
    with pytest.raises(TypeError, match=re.escape("known are: psycopg.AsyncConnection, asyncpg.Connection")):
        await aenqueue(thing, greet.new())


def test_pools_engines_and_cursors_are_no_connections(dsn: str) -> None:
    import sqlalchemy as sa
    from psycopg_pool import ConnectionPool

    with pytest.raises(TypeError, match="take a connection from the pool"):
        enqueue(ConnectionPool(dsn, open=False), greet.new())
    with pytest.raises(TypeError, match="take a connection from the engine"):
        enqueue(sa.create_engine("postgresql+psycopg://"), greet.new())
    with psycopg.connect(dsn) as conn, pytest.raises(TypeError, match="is no connection that postmill knows"):
        enqueue(conn.cursor(), greet.new())


def test_another_database_is_refused() -> None:
    import sqlalchemy as sa

    engine = sa.create_engine("sqlite://")
    with engine.connect() as conn, pytest.raises(TypeError, match=r"not sqlite\+pysqlite"):
        enqueue(conn, greet.new())
    engine.dispose()
    with sqlite3.connect(":memory:") as lite, pytest.raises(TypeError, match="is no connection"):
        enqueue(lite, greet.new())
    lite.close()


def test_a_scoped_session_is_a_session(outside: psycopg.Connection[Any], dsn: str) -> None:
    import sqlalchemy as sa
    from sqlalchemy.orm import Session, scoped_session, sessionmaker

    engine = sa.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn))
    session: scoped_session[Session] = scoped_session(sessionmaker(engine))
    enqueue(session, greet.new())
    session.rollback()
    assert outside.execute("select count(*) from postmill.any_job").fetchone() == (0,)
    session.remove()
    engine.dispose()


def test_no_library_but_psycopg_is_loaded_for_a_psycopg_caller() -> None:
    program = (
        "import sys, postmill, psycopg\n"
        "from postmill import enqueue, Client\n"
        "from postmill.bind.lookup import blocking_for\n"
        "blocking_for(psycopg.Connection.__new__(psycopg.Connection))\n"
        "print(sorted({'asyncpg', 'sqlalchemy', 'django'} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, env=os.environ
    )
    assert found.stdout.strip() == "[]", found.stderr
