"""Opens connections: the only place of the package that does, so that all of them bear a pooler.

A pooler in transaction mode gives each transaction another connection to the server. What was prepared on one is
missing on the next, or there already. So nothing is prepared unless `prepared` says that the way to the server bears it.

Applications may use them, too: their handlers then notice nothing of a restart of the server.
"""

from __future__ import annotations

from time import monotonic
from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool, ConnectionPool

__all__ = ["pool", "apool", "connect", "aconnect"]

PREPARE_AFTER = 5
"""So often must a connection run a statement before it is prepared on the server, where that is allowed."""

TRIED_FOR = 5.0
"""Seconds for which a pool tries by itself to open a connection anew, at growing intervals. After that it tries when somebody
wants one: by itself it would try for minutes, in the end every 64 s and more, and for so long a database that is back would
look as if it were away."""


def connect(conninfo: str, name: str, *, prepared: bool = False, **options: Any) -> psycopg.Connection[Any]:
    """A connection, in autocommit mode unless `options` say otherwise.

    Args:
        conninfo: a URL, or a connection string as libpq has them.
        name: its application_name, under which the server shows it.
        prepared: statements that it runs often are prepared on the server. Not behind a pooler in transaction mode.
        options: psycopg's; they win.

    Raises what psycopg does.
    """
    return psycopg.connect(conninfo, **_options(name, prepared, options))


async def aconnect(
    conninfo: str, name: str, *, prepared: bool = False, **options: Any
) -> psycopg.AsyncConnection[Any]:
    """As `connect`, for awaiting."""
    return await psycopg.AsyncConnection.connect(conninfo, **_options(name, prepared, options))


def pool(
    conninfo: str, name: str, *, prepared: bool = False, options: dict[str, Any] | None = None, **how: Any
) -> ConnectionPool[Any]:
    """A pool of such connections, not opened yet: `with pool(…) as connections`.

    It gives none that the server has hung up: one from before a restart is replaced by another when it is asked for, and the
    caller sees nothing of it. While no server answers, callers wait for at most `timeout`.

    Args:
        conninfo, name, prepared: as in `connect`; the name is the pool's, too.
        options: psycopg's, for each connection; they win.
        how: psycopg_pool's, such as `min_size`, `max_size` and `timeout` (seconds for which a free one is waited for, 30).

    Raises psycopg_pool.PoolTimeout where none is free in time.
    """
    return _Pool(conninfo, **_pooled(name, prepared, options) | how)


def apool(
    conninfo: str, name: str, *, prepared: bool = False, options: dict[str, Any] | None = None, **how: Any
) -> AsyncConnectionPool[Any]:
    """As `pool`, for awaiting."""
    return _AsyncPool(conninfo, **_pooled(name, prepared, options) | how)


class _Pool(ConnectionPool[Any]):
    """Looks at a connection before it gives it. psycopg_pool's own `check` waits after each dead one for 1, 2, 4 s, which
    after a restart of the server, with ten of them in the pool, is longer than anybody has patience.
    """

    def getconn(self, timeout: float | None = None) -> psycopg.Connection[Any]:
        until = monotonic() + (self.timeout if timeout is None else timeout)
        while True:
            conn: psycopg.Connection[Any] = super().getconn(max(0.0, until - monotonic()))
            try:
                _look(conn)
            except psycopg.OperationalError:
                self.putconn(conn)  # which opens another in its place
            else:
                return conn


class _AsyncPool(AsyncConnectionPool[Any]):
    """As `_Pool`, for awaiting."""

    async def getconn(self, timeout: float | None = None) -> psycopg.AsyncConnection[Any]:
        until = monotonic() + (self.timeout if timeout is None else timeout)
        while True:
            conn: psycopg.AsyncConnection[Any] = await super().getconn(max(0.0, until - monotonic()))
            try:
                _look(conn)
            except psycopg.OperationalError:
                await self.putconn(conn)
            else:
                return conn


def _look(conn: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
    """At the socket only. Twice: the first look may find the server's farewell, and only the second the end behind it."""
    conn.pgconn.consume_input()
    conn.pgconn.consume_input()


def _pooled(name: str, prepared: bool, more: dict[str, Any] | None) -> dict[str, Any]:
    own = _options(name, prepared, more or {})
    return {"kwargs": own, "name": name, "open": False, "reconnect_timeout": TRIED_FOR}


def _options(name: str, prepared: bool, more: dict[str, Any]) -> dict[str, Any]:
    threshold = PREPARE_AFTER if prepared else None
    return {"autocommit": True, "application_name": name, "prepare_threshold": threshold} | more
