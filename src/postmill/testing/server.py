"""The server on which tests have their databases."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from postmill import connections
from postmill.local.server import LocalServer
from postmill.schema.runner import migrate

VARIABLE = "POSTMILL_TEST_SERVER"
QUICK = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_prepared_transactions": "10",
}
"""Settings of a server whose data nobody needs after the run."""


class TestServer:
    """A server with a migrated template, from which databases are copied.

    Args:
        dsn: connection string, of a role that may make databases.
    """

    __test__ = False

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._prefix = f"postmill_test_{os.getpid()}"
        self._numbers = count(1)

    @contextmanager
    def template(self) -> Iterator[None]:
        """Makes the template, and drops it at the end."""
        name = f"{self._prefix}_template"
        self._run("create database {}", name)
        try:
            migrate(make_conninfo(self._dsn, dbname=name))
            yield
        finally:
            self._run("drop database {} with (force)", name)

    @contextmanager
    def database(self) -> Iterator[str]:
        """Connection string of a fresh database, which is dropped at the end, whoever is still connected."""
        name = f"{self._prefix}_{next(self._numbers)}"
        self._run("create database {} template {} strategy file_copy", name, f"{self._prefix}_template")
        try:
            yield make_conninfo(self._dsn, dbname=name)
        finally:
            self._run("drop database {} with (force)", name)

    def _run(self, statement: str, *names: str) -> None:
        with connections.connect(self._dsn, "postmill-test") as conn:
            conn.execute(SQL(statement).format(*map(Identifier, names)))


@contextmanager
def test_server(dsn: str, folder: Path) -> Iterator[TestServer]:
    """The server that `dsn`, else the environment names; else one in `folder`, for the time of the run.

    Raises LocalServerError where neither an embedded PostgreSQL nor programs of one are here.
    """
    named = dsn or os.environ.get(VARIABLE)
    if named:
        server = TestServer(named)
        with server.template():
            yield server
        return
    with LocalServer(folder, settings=QUICK) as local:
        server = TestServer(local.dsn())
        with server.template():
            yield server


test_server.__test__ = False  # type: ignore[attr-defined]
