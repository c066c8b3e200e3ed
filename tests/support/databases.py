"""Databases for single tests, copied from a migrated template: about 30 ms to make and 50 ms to drop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.sql import SQL, Identifier

from postmill.local.server import LocalServer
from postmill.schema.runner import migrate
from tests.support.eventually import eventually

TEMPLATE = "migrated"
_NUMBERS = count(1)


@dataclass(frozen=True)
class Database:
    """One test's own database."""

    server: LocalServer
    name: str

    @property
    def dsn(self) -> str:
        """Connection URL, for every driver."""
        return self.server.dsn(self.name)

    def connect(self, **options: Any) -> Connection[Any]:
        """A psycopg connection in autocommit; the test closes it."""
        return psycopg.connect(self.dsn, autocommit=True, **options)

    async def aconnect(self, **options: Any) -> AsyncConnection[Any]:
        """The same, async."""
        return await AsyncConnection.connect(self.dsn, autocommit=True, **options)

    def backends(self) -> list[tuple[int, str, str, str]]:
        """The client backends in this database: pid, application_name, state, last query."""
        with psycopg.connect(self.server.dsn(), autocommit=True) as conn:
            return conn.execute(
                "select pid, application_name, state, left(query, 200) from pg_stat_activity"
                " where datname = %s and backend_type = 'client backend'",
                [self.name],
            ).fetchall()


@contextmanager
def fresh_database(server: LocalServer, template: str) -> Iterator[Database]:
    """A database for one test; leaving fails if the test left connections in it."""
    database = Database(server, f"test_{next(_NUMBERS)}")
    _run(server, SQL("create database {} template {}"), database.name, template)
    try:
        yield database
        left = database.backends()
        # One that is just being closed has a little time to end.
        if left:
            eventually(lambda: not database.backends(), 5.0, f"database without connections (had {left})")
    finally:
        _run(server, SQL("drop database {} with (force)"), database.name)


def make_template(server: LocalServer) -> str:
    """Make the migrated template; returns its name."""
    _run(server, SQL("create database {}"), TEMPLATE)
    migrate(server.dsn(TEMPLATE))
    return TEMPLATE


def _run(server: LocalServer, statement: SQL, *names: str) -> None:
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute(statement.format(*map(Identifier, names)))
