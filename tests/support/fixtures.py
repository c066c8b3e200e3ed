"""The fixtures. `cluster` is one per process (so one per xdist worker); everything else is one per test.

pg, apg         an autocommit connection to the test's own migrated database, sync and async
database        that database: .dsn, .connect(), .aconnect(), .backends()
dsn             its URL
emptied         a migrated database of the module, in which no job ever was; for modules with many small tests:
                a `database` of theirs that returns it spares them 40 ms of processor each
lasting         an autocommit connection to that, the module's; a `pg` of theirs that returns it spares 20 ms more
empty_database  a database without the schema
own_cluster     a server of the test's own, migrated database `postgres`: to restart, kill, pin its horizon
forked          every `python -m …` that the test starts is forked where it is imported already (`forking.py`)
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_asyncio
from hypothesis import settings
from psycopg import AsyncConnection, Connection

from postmill.local.server import LocalServer
from tests.support.databases import Database, administered, fresh_database, left_alone
from tests.support.mould import TEMPLATE, Mould, mould
from tests.support.ports import unused_port
from tests.support.postgres import bindir
from tests.support.sessions import wipe
from tests.support.spawner import forked_children

__all__ = ["mould"]

# No test is timed: on a busy machine an example that takes 1 ms took 200.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


LONG = 5400
"""Seconds that a test marked `long` may take with all that it sets up, such as a million jobs on a busy machine."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The suite's own limit is for short tests, however a long one is chosen."""
    for item in items:
        if item.get_closest_marker("long") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONG))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """The one reason to skip: Debian's PostgreSQL 15 is not here."""
    if item.get_closest_marker("needs_debian15"):
        bindir("15")


@pytest.fixture(scope="session")
def cluster(mould: Mould, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """The server that the tests of this process share."""
    with mould.server(tmp_path_factory.mktemp("cluster")) as server, administered(server, TEMPLATE):
        yield server
    shutil.rmtree(server.cluster)  # the log stays


@pytest.fixture(scope="session")
def template(cluster: LocalServer) -> str:
    """Name of the migrated template database."""
    return TEMPLATE


@pytest.fixture
def database(cluster: LocalServer, template: str) -> Iterator[Database]:
    """The test's own migrated database."""
    with fresh_database(cluster, template) as database:
        yield database


@pytest.fixture(scope="module")
def _of_the_module(cluster: LocalServer, template: str) -> Iterator[tuple[Database, Connection[Any]]]:
    with fresh_database(cluster, template) as database, database.connect() as conn:
        yield database, conn


@pytest.fixture
def emptied(_of_the_module: tuple[Database, Connection[Any]]) -> Iterator[Database]:
    """The module's own migrated database; of the tests before, job types and what is no job may be there."""
    database, conn = _of_the_module
    wipe(conn)
    yield database
    left_alone(database, but=conn.info.backend_pid)


@pytest.fixture
def lasting(_of_the_module: tuple[Database, Connection[Any]], emptied: Database) -> Connection[Any]:
    """An autocommit connection to `emptied`, the same for all tests of the module."""
    return _of_the_module[1]


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
def own_cluster(mould: Mould, tmp_path: Path) -> Iterator[LocalServer]:
    """A server for this test alone, its database `postgres` migrated."""
    with mould.server(tmp_path / "own cluster") as server:
        with psycopg.connect(server.dsn(TEMPLATE), autocommit=True) as conn:
            conn.execute("drop database postgres")
        with psycopg.connect(server.dsn("template1"), autocommit=True) as conn:
            conn.execute(f"alter database {TEMPLATE} rename to postgres")
        yield server


@pytest.fixture
def free_port() -> int:
    """A TCP port of the loopback address that nobody listens on."""
    return unused_port()


@pytest.fixture
def forked() -> Iterator[None]:
    """Not for tests that are about the start of a process."""
    with forked_children():
        yield
