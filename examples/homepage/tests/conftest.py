"""Fixtures of the application's tests; the database's are those of the whole project."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
import pytest_asyncio

from examples.homepage import statements
from examples.homepage.demo.stand_ins import FOLDERS
from examples.homepage.tests.site import Site, opened
from examples.upstreams.feeds.server import FeedServer
from postmill import Client, Registry
from tests.support.databases import Database
from tests.support.invariants import invariants

# Every table of the application, whatever part of it has made it.
EMPTY = """
    do $$ begin
        execute (select 'truncate ' || string_agg(quote_ident(tablename), ', ')
                   from pg_tables where schemaname = 'public');
    end $$
"""


@pytest.fixture
def service() -> Iterator[FeedServer]:
    """The world's feeds."""
    server = FeedServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="feeds")
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest_asyncio.fixture
async def site(
    emptied: Database, service: FeedServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[Site]:
    """The application in the module's database, without sources. At the end Postmill's invariants are checked."""
    for variable, folder in FOLDERS.items():
        monkeypatch.setenv(variable, str(tmp_path / folder))
    with Client(emptied.dsn) as client:
        client.register(Registry.collect("examples.homepage.jobs"))
    with psycopg.connect(emptied.dsn, autocommit=True) as conn:
        conn.execute(statements.schema())
        conn.execute(EMPTY)
    async with opened(emptied.dsn, service, monkeypatch) as made:
        yield made
    with emptied.connect() as conn:
        invariants(conn)
