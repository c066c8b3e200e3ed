"""Applies migrations: one transaction each, by any number of processes at once, killed or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from psycopg import Connection
from psycopg.pq import TransactionStatus
from psycopg.sql import Literal

from postmill import connections
from postmill.domain.errors import PostmillError
from postmill.schema.check import check
from postmill.schema.migration import Migration, known_migrations
from postmill.store.catalog import DEFAULT_SCHEMA, sql


class TransactionOpen(PostmillError):
    """Migrations commit one by one, so the connection that is handed in must not be inside a transaction."""


def migrate(
    target: str | Connection[Any],
    schema: str = DEFAULT_SCHEMA,
    migrations: Sequence[Migration] | None = None,
    *,
    told: Callable[[Migration], object] = lambda migration: None,
) -> tuple[Migration, ...]:
    """Bring a schema up to date, making it if it is not there; returns what this call applied.

    Args:
        target: a connection string, or a psycopg connection outside of a transaction.
        schema: its name.
        migrations: in place of those of the package.
        told: is told of each one before it is applied.

    Raises:
        MigrationChanged, SchemaTooNew: nothing is applied.
        TransactionOpen: the connection is inside a transaction.
    """
    known = tuple(known_migrations() if migrations is None else migrations)
    if isinstance(target, str):
        with connections.connect(target, "postmill migrate") as conn:
            return _migrate(conn, schema, known, told)
    if target.info.transaction_status != TransactionStatus.IDLE:
        raise TransactionOpen("migrate needs a connection outside of a transaction")
    return _migrate(target, schema, known, told)


def _migrate(
    conn: Connection[Any],
    schema: str,
    known: tuple[Migration, ...],
    told: Callable[[Migration], object],
) -> tuple[Migration, ...]:
    with conn.transaction():
        status = check(conn, schema, known)
        status.refuse_foreign()
    if status.applied is None:
        with conn.transaction():
            conn.execute(sql("schema/lock", schema))
            conn.execute(sql("schema/prepare", schema))
    done = []
    for migration in status.pending:
        told(migration)
        if _apply(conn, schema, known, migration):
            done.append(migration)
    return tuple(done)


def _apply(conn: Connection[Any], schema: str, known: tuple[Migration, ...], migration: Migration) -> bool:
    with conn.transaction():
        conn.execute(sql("schema/lock", schema))
        status = check(conn, schema, known)
        status.refuse_foreign()
        if migration not in status.pending:
            return False  # another migrator was faster
        conn.execute(step_sql(migration, schema).encode())
        return True


def render_sql(
    schema: str = DEFAULT_SCHEMA,
    migrations: Sequence[Migration] | None = None,
) -> str:
    """The script that does the same by `psql --set ON_ERROR_STOP=1`, where no program may touch the schema.

    Pass `check(conn).pending` as `migrations` for what an existing schema still lacks.
    """
    known = known_migrations() if migrations is None else migrations
    steps = [f"{sql('schema/prepare', schema)};", *(step_sql(migration, schema) for migration in known)]
    return "\n".join(f"begin;\n{sql('schema/lock', schema)};\n{step}\ncommit;\n" for step in steps)


def step_sql(migration: Migration, schema: str) -> str:
    """One migration and its record as a script, to be run in a transaction that holds the lock (`sql/schema/lock.sql`)."""
    record = sql("schema/record", schema)
    values = (migration.version, migration.name, migration.breaking, migration.checksum)
    for number, value in enumerate(values, start=1):
        record = record.replace(f"${number}", Literal(value).as_string(None))
    return f"{migration.sql(schema).rstrip()}\n{record};"
