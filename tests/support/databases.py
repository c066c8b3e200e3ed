"""Databases for single tests, copied file by file from a migrated template: about 25 ms of processor to make and drop one."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.sql import SQL, Identifier

from postmill.local.server import LocalServer
from tests.support.eventually import eventually

_NUMBERS = count(1)
_ADMINS: dict[LocalServer, Connection[Any]] = {}


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

    def backends(self, but: int = 0) -> list[tuple[int, str, str, str]]:
        """The client backends in this database, but for one: pid, application_name, state, last query."""
        return (
            _ADMINS[self.server]
            .execute(
                "select pid, application_name, state, left(query, 200) from pg_stat_activity"
                " where datname = %s and backend_type = 'client backend' and pid <> %s",
                [self.name, but],
            )
            .fetchall()
        )


@contextmanager
def administered(server: LocalServer, template: str) -> Iterator[None]:
    """Keep a connection to the server's own database, by which the databases of its tests are made and dropped."""
    # Who comes first since the start writes down what every session has to know of the catalogs: copies have it, too.
    psycopg.connect(server.dsn(template)).close()
    with psycopg.connect(server.dsn(), autocommit=True) as _ADMINS[server]:
        try:
            yield
        finally:
            del _ADMINS[server]


def running_servers() -> list[int]:
    """Process ids of the servers that are administered."""
    return [server.pid for server in _ADMINS if server.pid is not None]


@contextmanager
def fresh_database(server: LocalServer, template: str, *, patience: float = 15.0) -> Iterator[Database]:
    """A database for one test; leaving fails if the test left connections in it for `patience` seconds."""
    database = Database(server, f"test_{next(_NUMBERS)}")
    _run(server, SQL("create database {} template {} strategy file_copy"), database.name, template)
    try:
        yield database
        left_alone(database, patience)
    finally:
        _run(server, SQL("drop database {} with (force)"), database.name)


def left_alone(database: Database, patience: float = 15.0, but: int = 0) -> None:
    """Fail if there are connections in it for `patience` seconds; one that is just being closed has a little time to end.

    The backend `but` may stay.
    """
    left = database.backends(but)
    for _ in range(5):
        if not left:
            return
        time.sleep(0.01)
        left = database.backends(but)
    # One that was given up while it was being opened is closed by the collector.
    gc.collect()
    eventually(lambda: not database.backends(but), patience, f"database without connections (had {left})")


def _run(server: LocalServer, statement: SQL, *names: str) -> None:
    _ADMINS[server].execute(statement.format(*map(Identifier, names)))
