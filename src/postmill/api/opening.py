"""What the application opens when it starts, and closes at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import psycopg
from fastapi import FastAPI
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from postmill import connections
from postmill.api.backend import Backend
from postmill.api.entrance import Entrance
from postmill.api.known_cells import KnownCells
from postmill.api.movers import Movers
from postmill.api.oidc import Provider
from postmill.archive.storage import ArchiveStorage
from postmill.artifacts.storage import Storage
from postmill.domain.errors import SettingsError
from postmill.domain.settings import Settings
from postmill.engine.database import conninfo_for
from postmill.engine.http_work.desk import Desk
from postmill.telemetry.bus import Bus

NAME = "postmill server"
PATIENCE = 5.0
"""Seconds that a request waits for a free connection; then it is answered 503."""


def opening(settings: Settings, bus: Bus) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """The lifespan of an application with these settings."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if settings.dsn is None:
            raise SettingsError("the API needs the setting database_url")
        pool: AsyncConnectionPool[AsyncConnection[Any]] = connections.apool(
            conninfo_for(settings.dsn),
            NAME,
            prepared=settings.prepared_statements,
            # All of them at once: opening one while a request waits would be felt.
            min_size=settings.server.connections,
            max_size=settings.server.connections,
            timeout=PATIENCE,
            configure=_configure,
            options={"prepare_threshold": 0 if settings.prepared_statements else None},
        )
        async with pool:
            desk = _desk(settings, bus)
            cells = KnownCells(settings.cells, settings.schema_name)
            movers = Movers(settings)
            app.state.backend = Backend(
                pool,
                settings,
                desk,
                Entrance(pool, settings.schema_name),
                Storage(settings.artifacts),
                ArchiveStorage(settings.archive),
                cells,
                movers,
                Provider.of(settings.oidc),
            )
            movers.open()
            try:
                yield
            finally:
                await movers.close()
                await desk.close()
                await cells.close()

    return lifespan


def _desk(settings: Settings, bus: Bus) -> Desk:
    where = settings.listen_dsn if settings.notify else None
    return Desk(where, settings.schema_name, settings.encryption.ring, bus)


async def _configure(conn: AsyncConnection[Any]) -> None:
    # Each statement of a transaction must see what was committed meanwhile, whatever the role's default is.
    await conn.set_isolation_level(psycopg.IsolationLevel.READ_COMMITTED)
