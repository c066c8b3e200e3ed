"""Fixtures of the application's tests; the database's are those of the whole project."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest
import pytest_asyncio

from examples.upstreams.gemini.server import GeminiServer
from examples.yellowbook import jobs, statements
from examples.yellowbook.tests.book import Book, opened
from postmill import Client, Registry
from tests.support.databases import Database
from tests.support.invariants import invariants


@pytest.fixture
def service() -> Iterator[GeminiServer]:
    """The Gemini API on a good day."""
    server = GeminiServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="gemini")
    thread.start()
    yield server
    server.open.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest_asyncio.fixture
async def book(
    database: Database, service: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Book]:
    """The application in the test's own database. At the end Postmill's invariants are checked."""
    with Client(database.dsn) as client:
        client.register(Registry.collect(jobs))
    with psycopg.connect(database.dsn, autocommit=True) as conn:
        conn.execute(statements.schema())
    async with opened(database.dsn, service, monkeypatch) as made:
        yield made
    with database.connect() as conn:
        invariants(conn)
