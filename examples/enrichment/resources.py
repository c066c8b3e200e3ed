"""What a worker process holds open for its handlers: connections to its database and to the service."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from examples.enrichment.api import EnrichmentApi
from examples.enrichment.settings import from_environment
from postmill.connections import apool


@dataclass(frozen=True, slots=True)
class Resources:
    """Bound to one event loop, as both of its parts are."""

    items: AsyncConnectionPool[AsyncConnection[Any]]
    api: EnrichmentApi


async def resources() -> Resources:
    """Those of the running loop, opened at the first call."""
    loop = asyncio.get_running_loop()
    held = _of_loop.get(loop)
    if held is None:
        settings = from_environment()
        dsn = settings.database_url.get_secret_value()
        # A connection from before a restart of the server is replaced, and no job sees it.
        pool = apool(dsn, "enrichment items", prepared=True, min_size=0, max_size=settings.connections)
        held = _of_loop[loop] = Resources(pool, EnrichmentApi(settings))
        await pool.open()
    return held


async def close_resources() -> None:
    """Close those of the running loop, if it has any. A worker process need not: they end with it."""
    held = _of_loop.pop(asyncio.get_running_loop(), None)
    if held is not None:
        await held.items.close()
        await held.api.close()


# A pool cannot be used from another loop than its own, and a handler has no place of its own to keep one.
_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Resources] = WeakKeyDictionary()
