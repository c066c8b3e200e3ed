"""What a worker process holds open for its handlers: connections to the entries, and the client of the API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from examples.yellowbook.gemini.client import Gemini
from examples.yellowbook.settings import Settings, from_environment
from postmill import resource
from postmill.connections import apool

Pool = AsyncConnectionPool[AsyncConnection[Any]]


def pool_of(settings: Settings) -> Pool:
    """Connections in autocommit, not yet open. One from before a restart of the server is replaced, and nobody sees it."""
    dsn = settings.database_url.get_secret_value()
    return apool(dsn, "yellow book", prepared=True, min_size=0, max_size=settings.connections)


def gemini_of(settings: Settings, timeout: float | None = None) -> Gemini:
    """The client; `timeout` (seconds) in place of the settings' own. Raises SettingsMissing where there is no key."""
    settings.key()
    return Gemini(settings.api_url, settings.key, settings.model, timeout or settings.timeout)


@resource
async def entries() -> AsyncIterator[Pool]:
    """The pool of a worker process."""
    async with pool_of(from_environment()) as pool:
        yield pool


@resource
async def gemini() -> AsyncIterator[Gemini]:
    """The API's client of a worker process."""
    async with gemini_of(from_environment()) as client:
        yield client
