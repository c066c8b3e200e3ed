"""One database with two tenants for each module: tests take back what they change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import Connection

from postmill.local.server import LocalServer
from tests.access.world import Tenant, build
from tests.support.databases import Database, fresh_database

OWN, OTHER = "mark-of-ada", "mark-of-bob-the-other"


@pytest.fixture(scope="module")
def world_database(cluster: LocalServer, template: str) -> Iterator[Database]:
    """A migrated database."""
    with fresh_database(cluster, template) as database:
        yield database


@pytest.fixture(scope="module")
def _built(world_database: Database) -> Iterator[tuple[Connection[Any], list[Tenant]]]:
    with world_database.connect() as conn:
        yield conn, build(conn, OWN, OTHER)


@pytest.fixture
def world(_built: tuple[Connection[Any], list[Tenant]]) -> Iterator[Connection[Any]]:
    """The owner's connection, in a transaction that is taken back."""
    conn, _ = _built
    with conn.transaction(force_rollback=True):
        yield conn


@pytest.fixture
def tenants(_built: tuple[Connection[Any], list[Tenant]]) -> list[Tenant]:
    """Ada, who asks, and Bob, whose things they are."""
    return _built[1]
