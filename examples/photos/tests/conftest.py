"""Fixtures of the application's tests; the database's are those of the whole project."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from examples.photos.tests.studio import Studio, opened, serving
from examples.photos.tests.world import World
from examples.photos.tests.world import world as opened_world
from postmill import Worker
from postmill.local.server import LocalServer
from tests.support.databases import Database, fresh_database
from tests.support.invariants import invariants
from tests.support.workers import working


@pytest.fixture
def studio(database: Database, tmp_path: Path) -> Iterator[Studio]:
    """The application in the test's own database. At the end Postmill's invariants are checked."""
    with serving() as server, opened(database.dsn, tmp_path / "library", server) as made:
        yield made
        invariants(made.conn)


@pytest.fixture(scope="module")
def world_database(cluster: LocalServer, template: str) -> Iterator[Database]:
    """The module's own migrated database."""
    with fresh_database(cluster, template) as database:
        yield database


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(world_database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """The module's control plane."""
    async with opened_world(world_database, tmp_path_factory.mktemp("programs")) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def worker(world: World, world_database: Database) -> AsyncIterator[Worker]:
    """A worker of the module, which runs commands."""
    async with working(world_database.dsn, poll_interval=30.0, grace=0.5) as made:
        yield made
