"""Fixtures of the application's tests; the database's are those of the whole project."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
import pytest_asyncio
from psycopg import AsyncConnection

from examples.planner import statements
from examples.planner.settings import VARIABLES
from examples.planner.tests.labour import served
from examples.planner.tests.office import Office, serving
from examples.upstreams.alerts.mailbox import Mailbox
from examples.upstreams.messages.server import MessageServer
from postmill import Client
from tests.support.databases import Database
from tests.support.invariants import invariants

PEOPLE = Path(__file__).with_name("people.sql").read_bytes()
EMPTY = """
    do $$ begin
        execute (select 'truncate ' || string_agg(format('%I.%I', schemaname, tablename), ', ')
                   from pg_tables where schemaname in ('planner', 'planner_audit'));
    end $$
"""


@pytest.fixture(scope="module")
def service() -> Iterator[MessageServer]:
    """Twilio, Expo and Ably."""
    server = MessageServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="messages")
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def mailbox() -> Iterator[tuple[Mailbox, str]]:
    """The mail server, and its URL."""
    made = Mailbox()
    url = made.start()
    yield made, url
    made.stop()


@pytest_asyncio.fixture
async def office(
    emptied: Database,
    service: MessageServer,
    mailbox: tuple[Mailbox, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> AsyncIterator[Office]:
    """The application in the module's database, with two organizations. At the end Postmill's invariants are checked."""
    with psycopg.connect(emptied.dsn, autocommit=True) as conn:
        if conn.execute("select to_regclass('planner.deadletter')").fetchone() == (None,):
            conn.execute(statements.schema())
            with Client(emptied.dsn) as client:
                client.register(served())
        conn.execute(EMPTY)
        conn.execute(PEOPLE)
    service.reset()
    box, url = mailbox
    box.messages.clear()
    for field, value in {
        "database_url": emptied.dsn, "smtp_url": url, "sms_url": service.url, "push_url": service.url,
        "in_app_url": service.url, "sms_account": "AC1", "in_app_key": "app.key:secret",
    }.items():  # fmt: skip
        monkeypatch.setenv(VARIABLES[field], value)
    monkeypatch.setenv("POSTMILL_ARTIFACTS__URL", f"file://{tmp_path}/files")
    async with (
        serving(emptied.dsn) as http,
        await AsyncConnection.connect(emptied.dsn, autocommit=True) as conn,
    ):
        yield Office(emptied.dsn, conn, http, service, box, tmp_path / "files")
    with emptied.connect() as conn:
        invariants(conn)
