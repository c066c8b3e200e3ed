"""Connections in autocommit mode: each call is a transaction of its own, COPY and what follows together."""

from __future__ import annotations

from typing import Any

import asyncpg
import psycopg
import pytest
from psycopg import Connection

from postmill.client import aenqueue, aenqueue_many, enqueue, enqueue_many
from postmill.domain.errors import SchemaMissing, SomeRefused
from postmill.domain.job import NewJob
from tests.bind.job_types import greet
from tests.support.databases import Database


def count(conn: Connection[Any], table: str = "any_job") -> int:
    row = conn.execute(f"select count(*) from postmill.{table}").fetchone()
    assert row is not None
    return int(row[0])


def test_psycopg(outside: Connection[Any], database: Database) -> None:
    with database.connect() as conn:
        enqueue(conn, greet.new())
        assert conn.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        enqueue_many(conn, [greet.new() for _ in range(300)])
        assert conn.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        with conn.transaction(force_rollback=True):
            enqueue_many(conn, [greet.new() for _ in range(300)])
    assert (count(outside), count(outside, "intake")) == (301, 0)


async def test_psycopg_async(outside: Connection[Any], database: Database) -> None:
    async with await database.aconnect() as conn:
        await aenqueue(conn, greet.new())
        await aenqueue_many(conn, [greet.new() for _ in range(300)])
        async with conn.transaction(force_rollback=True):
            await aenqueue_many(conn, [greet.new() for _ in range(300)])
    assert (count(outside), count(outside, "intake")) == (301, 0)


async def test_asyncpg(outside: Connection[Any], dsn: str) -> None:
    conn = await asyncpg.connect(dsn)
    await aenqueue(conn, greet.new())
    await aenqueue_many(conn, [greet.new() for _ in range(300)])
    await conn.close()
    assert (count(outside), count(outside, "intake")) == (301, 0)


def test_a_refused_row_among_many_stops_no_other(outside: Connection[Any]) -> None:
    with pytest.raises(SomeRefused):
        enqueue_many(outside, [greet.new(), NewJob("nothing"), greet.new()])
    assert count(outside) == 2


def test_text_beyond_ascii_in_another_client_encoding(outside: Connection[Any], dsn: str) -> None:
    with psycopg.connect(dsn, client_encoding="latin1") as conn:
        enqueue_many(conn, [greet.new("Zoë") for _ in range(250)])
        enqueue(conn, greet.new("Zoë"))
    names = outside.execute("select distinct payload ->> 'name' from postmill.any_job").fetchall()
    assert names == [("Zoë",)]


def test_a_database_without_the_schema_says_what_to_do(empty_database: Database) -> None:
    with empty_database.connect() as conn:
        for job in (greet.new(), greet.using(key="k").new()):
            with pytest.raises(SchemaMissing, match="run: postmill migrate"):
                enqueue(conn, job)
        with pytest.raises(SchemaMissing, match="run: postmill migrate"):
            enqueue_many(conn, [greet.new() for _ in range(300)])
