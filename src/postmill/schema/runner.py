"""Applies migrations: one transaction each, by any number of processes at once, killed or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.errors import DeadlockDetected, LockNotAvailable
from psycopg.pq import TransactionStatus
from psycopg.sql import Literal

from postmill import connections
from postmill.domain.errors import PostmillError
from postmill.schema.check import check
from postmill.schema.migration import Migration, known_migrations
from postmill.schema.patience import PATIENCE, Patience
from postmill.schema.status import SchemaStatus
from postmill.store.catalog import DEFAULT_SCHEMA, sql


class TransactionOpen(PostmillError):
    """Migrations commit one by one, so the connection that is handed in must not be inside a transaction."""


def migrate(
    target: str | Connection[Any],
    schema: str = DEFAULT_SCHEMA,
    migrations: Sequence[Migration] | None = None,
    *,
    only_safe: bool = False,
    patience: float = PATIENCE,
    told: Callable[[Migration], object] = lambda migration: None,
    waiting: Callable[[str], object] = lambda text: None,
) -> tuple[Migration, ...]:
    """Bring a schema up to date, making it if it is not there; returns what this call applied.

    Workers go on meanwhile: a migration waits for a table for two seconds at most, then steps back and tries again.

    Args:
        target: a connection string, or a psycopg connection outside of a transaction.
        schema: its name.
        migrations: in place of those of the package.
        only_safe: refuse if one that is missing is breaking, unless the schema is new altogether.
        patience: seconds to go on trying for a table that open transactions hold.
        told: is told of each one before it is applied.
        waiting: is told, once for each migration, whom it waits for.

    Raises:
        MigrationChanged, SchemaTooNew, MigrationBreaking: nothing is applied.
        SchemaBusy: one is not applied, and those after it; what was applied before it stays.
        TransactionOpen: the connection is inside a transaction.
    """
    known = tuple(known_migrations() if migrations is None else migrations)
    if isinstance(target, str):
        with connections.connect(target, "postmill migrate") as conn:
            return _Run(conn, schema, known, only_safe, patience, told, waiting).migrate()
    if target.info.transaction_status != TransactionStatus.IDLE:
        raise TransactionOpen("migrate needs a connection outside of a transaction")
    return _Run(target, schema, known, only_safe, patience, told, waiting).migrate()


@dataclass(frozen=True, slots=True)
class _Run:
    conn: Connection[Any]
    schema: str
    known: tuple[Migration, ...]
    only_safe: bool
    patience: float
    told: Callable[[Migration], object]
    waiting: Callable[[str], object]

    def migrate(self) -> tuple[Migration, ...]:
        with self.conn.transaction():
            status = self._status()
            if self.only_safe:
                status.refuse_breaking()
        if status.applied is None:
            with self.conn.transaction():
                self.conn.execute(sql("schema/lock", self.schema))
                self.conn.execute(sql("schema/prepare", self.schema))
        done = []
        for migration in status.pending:
            self.told(migration)
            if self._applied(migration):
                done.append(migration)
        return tuple(done)

    def _status(self) -> SchemaStatus:
        status = check(self.conn, self.schema, self.known)
        status.refuse_foreign()
        return status

    def _applied(self, migration: Migration) -> bool:
        patience = Patience(self.conn, self.schema, migration, self.patience, self.waiting)
        while True:
            try:
                return self._apply(migration)
            except (LockNotAvailable, DeadlockDetected) as fault:
                patience.wait(fault)

    def _apply(self, migration: Migration) -> bool:
        with self.conn.transaction():
            self.conn.execute(sql("schema/lock", self.schema))
            if migration not in self._status().pending:
                return False  # another migrator was faster
            self.conn.execute(step_sql(migration, self.schema).encode())
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
    return f"{sql('schema/patience', schema)};\n{migration.sql(schema).rstrip()}\n{record};"
