"""Reads the status of a schema from a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import AsyncConnection, Connection
from psycopg.rows import tuple_row

from postmill.schema.migration import Migration, known_migrations
from postmill.schema.status import SchemaStatus, compare
from postmill.store.catalog import DEFAULT_SCHEMA, sql


def check(
    conn: Connection[Any],
    schema: str = DEFAULT_SCHEMA,
    known: Sequence[Migration] | None = None,
) -> SchemaStatus:
    """What was applied and what is missing; `check(conn).require()` raises if Postmill cannot work on it."""
    known = known_migrations() if known is None else known
    with conn.cursor(row_factory=tuple_row) as cursor:
        there = cursor.execute(sql("schema/prepared", schema)).fetchone()
        if there is None or not there[0]:
            return compare(schema, None, known)
        return compare(schema, cursor.execute(sql("schema/applied", schema)).fetchall(), known)


async def acheck(
    conn: AsyncConnection[Any],
    schema: str = DEFAULT_SCHEMA,
    known: Sequence[Migration] | None = None,
) -> SchemaStatus:
    """`check` for an async connection."""
    known = known_migrations() if known is None else known
    async with conn.cursor(row_factory=tuple_row) as cursor:
        there = await (await cursor.execute(sql("schema/prepared", schema))).fetchone()
        if there is None or not there[0]:
            return compare(schema, None, known)
        rows = await (await cursor.execute(sql("schema/applied", schema))).fetchall()
        return compare(schema, rows, known)
