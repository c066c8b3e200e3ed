"""Fixtures of the application's tests; the database's are those of the whole project."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import psycopg
import pytest
import pytest_asyncio

from examples.enrichment import jobs, statements
from examples.enrichment.resources import close_resources
from examples.enrichment.tests.app import App, serving
from examples.upstreams.scripted import ScriptedServer
from postmill import Client
from tests.support.databases import Database
from tests.support.invariants import invariants


@pytest.fixture
def stand_in() -> Iterator[ScriptedServer]:
    """The enrichment service on a good day."""
    with serving() as api:
        yield api


def prepare(dsn: str) -> None:
    """The application's tables and its job type, in a migrated database."""
    with Client(dsn) as client:
        client.register([jobs.enrich])
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(statements.schema())


@asynccontextmanager
async def elsewhere(database: Database, lease: float = 30.0) -> AsyncIterator[App]:
    """The application; the handlers run elsewhere, or not at all. At the end Postmill's invariants are checked."""
    prepare(database.dsn)
    async with await database.aconnect() as conn:
        yield App.elsewhere(database.dsn, conn)
    with database.connect() as conn:
        invariants(conn, lease_seconds=lease)


@pytest_asyncio.fixture
async def app(
    database: Database, stand_in: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[App]:
    """The application in the test's own database. At the end Postmill's invariants are checked."""
    prepare(database.dsn)
    monkeypatch.setenv("ENRICHMENT_DATABASE_URL", database.dsn)
    monkeypatch.setenv("ENRICHMENT_API_URL", stand_in.url)
    async with await database.aconnect() as conn:
        yield App.of(database.dsn, conn, stand_in)
        await close_resources()
    with database.connect() as conn:
        invariants(conn)
