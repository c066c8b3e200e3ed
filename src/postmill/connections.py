"""Opens connections: the only place of the package that does, so that all of them bear a pooler.

A pooler in transaction mode gives each transaction another connection to the server. What was prepared on one is
missing on the next, or there already. So nothing is prepared unless `prepared` says that the way to the server bears it.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool, ConnectionPool

PREPARE_AFTER = 5
"""So often must a connection run a statement before it is prepared on the server, where that is allowed."""


def connect(conninfo: str, name: str, *, prepared: bool = False, **options: Any) -> psycopg.Connection[Any]:
    """A connection, in autocommit mode unless `options` (psycopg's) say otherwise; `name` is its application_name.

    Raises what psycopg does.
    """
    return psycopg.connect(conninfo, **_options(name, prepared, options))


async def aconnect(
    conninfo: str, name: str, *, prepared: bool = False, **options: Any
) -> psycopg.AsyncConnection[Any]:
    """As `connect`, for awaiting."""
    return await psycopg.AsyncConnection.connect(conninfo, **_options(name, prepared, options))


def pool(
    conninfo: str, name: str, *, prepared: bool, options: dict[str, Any] | None = None, **how: Any
) -> ConnectionPool[Any]:
    """A pool of such connections, not opened yet; `how` is psycopg_pool's."""
    return ConnectionPool(
        conninfo, kwargs=_options(name, prepared, options or {}), name=name, open=False, **how
    )


def apool(
    conninfo: str, name: str, *, prepared: bool, options: dict[str, Any] | None = None, **how: Any
) -> AsyncConnectionPool[Any]:
    """As `pool`, for awaiting."""
    return AsyncConnectionPool(
        conninfo, kwargs=_options(name, prepared, options or {}), name=name, open=False, **how
    )


def _options(name: str, prepared: bool, more: dict[str, Any]) -> dict[str, Any]:
    threshold = PREPARE_AFTER if prepared else None
    return {"autocommit": True, "application_name": name, "prepare_threshold": threshold} | more
