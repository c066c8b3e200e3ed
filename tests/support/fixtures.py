"""The fixtures. `cluster` is one per process (so one per xdist worker); everything else is one per test.

pg, apg         an autocommit connection to the test's own migrated database, sync and async
database        that database: .dsn, .connect(), .aconnect(), .backends()
dsn             its URL
empty_database  a database without the schema
own_cluster     a server of the test's own, migrated database `postgres`: to restart, kill, pin its horizon
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import settings
from psycopg import AsyncConnection, Connection

from postmill.local.server import LocalServer
from postmill.schema.runner import migrate
from tests.support.databases import Database, administered, fresh_database, make_template
from tests.support.ports import unused_port
from tests.support.postgres import bindir, new_server

# No test is timed: on a busy machine an example that takes 1 ms took 200.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """The one reason to skip: Debian's PostgreSQL 15 is not here."""
    if item.get_closest_marker("needs_debian15"):
        bindir("15")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """The server that the tests of this process share."""
    with new_server(tmp_path_factory.mktemp("cluster")) as server, administered(server):
        yield server
    shutil.rmtree(server.cluster)  # the log stays


@pytest.fixture(scope="session")
def template(cluster: LocalServer) -> str:
    """Name of the migrated template database."""
    return make_template(cluster)


@pytest.fixture
def database(cluster: LocalServer, template: str) -> Iterator[Database]:
    """The test's own migrated database."""
    with fresh_database(cluster, template) as database:
        yield database


@pytest.fixture
def empty_database(cluster: LocalServer) -> Iterator[Database]:
    """A database that was never migrated."""
    with fresh_database(cluster, "template0") as database:
        yield database


@pytest.fixture
def dsn(database: Database) -> str:
    """URL of the test's own migrated database."""
    return database.dsn


@pytest.fixture
def pg(database: Database) -> Iterator[Connection[Any]]:
    """A connection to it in autocommit."""
    with database.connect() as conn:
        yield conn


@pytest_asyncio.fixture
async def apg(database: Database) -> AsyncIterator[AsyncConnection[Any]]:
    """An async connection to it in autocommit."""
    async with await database.aconnect() as conn:
        yield conn


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[LocalServer]:
    """A server for this test alone, its database `postgres` migrated."""
    with new_server(tmp_path / "own cluster") as server:
        migrate(server.dsn())
        yield server


@pytest.fixture
def free_port() -> int:
    """A TCP port of the loopback address that nobody listens on."""
    return unused_port()
