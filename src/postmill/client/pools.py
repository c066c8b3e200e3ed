"""Connections of the clients' own: a small pool per process, so that no fork shares a socket (case 23)."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout

from postmill import connections
from postmill.client.address import not_running
from postmill.client.fitness import arequire_fit, require_fit
from postmill.domain.errors import DatabaseMissing

NAME = "postmill-client"
PATIENCE = 10.0
"""Seconds to wait for a free connection."""

Conn = psycopg.Connection[Any]
AsyncConn = psycopg.AsyncConnection[Any]


class Pool:
    """Blocking connections in autocommit mode."""

    def __init__(self, conninfo: str, most: int, *, schema: str, prepared: bool = True) -> None:
        self._conninfo = conninfo
        self._schema = schema
        self._most = most
        self._prepared = prepared
        # By process: a child finds none of its own and makes one. The parent's stays referenced there, so
        # that nothing is ever sent over, or closed on, a socket that it still uses. No lock: it could be held
        # at the fork.
        self._pools: dict[int, ConnectionPool[Conn]] = {}

    @contextmanager
    def connection(self) -> Iterator[Conn]:
        """One connection; an error that ends it takes it out of the pool."""
        pool = self._pools.get(os.getpid()) or self._open()
        try:
            conn = pool.getconn()
        except PoolTimeout as late:
            _probe(self._conninfo, self._schema)
            raise DatabaseMissing(_busy(self._most)) from late
        try:
            yield conn
        finally:
            pool.putconn(conn)

    def close(self) -> None:
        """Closes this process's connections; the next use opens new ones."""
        pool = self._pools.pop(os.getpid(), None)
        if pool is not None:
            pool.close()

    def _open(self) -> ConnectionPool[Conn]:
        # A pool retries in the background and then says only that it is late: look first, and say what is
        # wrong.
        _probe(self._conninfo, self._schema)
        made = connections.pool(
            self._conninfo, NAME, prepared=self._prepared,
            min_size=1, max_size=self._most, timeout=PATIENCE,
        )  # fmt: skip
        pool = self._pools.setdefault(os.getpid(), made)
        if pool is made:
            weakref.finalize(self, _close_in, os.getpid(), pool)
        pool.open()
        return pool


class AsyncPool:
    """Awaited connections in autocommit mode, of the running loop."""

    def __init__(self, conninfo: str, most: int, *, schema: str, prepared: bool = True) -> None:
        self._conninfo = conninfo
        self._schema = schema
        self._most = most
        self._prepared = prepared
        self._pool: AsyncConnectionPool[AsyncConn] | None = None
        self._home: tuple[int, asyncio.AbstractEventLoop] | None = None

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConn]:
        """One connection; an error that ends it takes it out of the pool."""
        pool = await self._opened()
        try:
            conn = await pool.getconn()
        except PoolTimeout as late:
            await _aprobe(self._conninfo, self._schema)
            raise DatabaseMissing(_busy(self._most)) from late
        try:
            yield conn
        finally:
            await pool.putconn(conn)

    async def close(self) -> None:
        """Closes the connections of this process and loop; the next use opens new ones."""
        pool, home = self._pool, self._home
        self._pool = self._home = None
        if pool is not None and home == (os.getpid(), asyncio.get_running_loop()):
            await pool.close()

    async def _opened(self) -> AsyncConnectionPool[AsyncConn]:
        home = (os.getpid(), asyncio.get_running_loop())
        if self._pool is None or self._home != home:
            # What another process or a loop that has ended left behind cannot be closed from here.
            self._pool = connections.apool(
                self._conninfo, NAME, prepared=self._prepared,
                min_size=1, max_size=self._most, timeout=PATIENCE,
            )  # fmt: skip
            self._home = home
            await _aprobe(self._conninfo, self._schema)
        await self._pool.open()
        return self._pool


def _close_in(pid: int, pool: ConnectionPool[Conn]) -> None:
    if pid == os.getpid():
        pool.close()


def _busy(most: int) -> str:
    return f"all {most} connections of this client stayed busy for {PATIENCE:g} s"


def _probe(conninfo: str, schema: str) -> None:
    try:
        with connections.connect(conninfo, NAME) as conn:
            require_fit(conn, schema)
    except psycopg.OperationalError as error:
        raise _missing(conninfo, error) from error


async def _aprobe(conninfo: str, schema: str) -> None:
    try:
        async with await connections.aconnect(conninfo, NAME) as conn:
            await arequire_fit(conn, schema)
    except psycopg.OperationalError as error:
        raise _missing(conninfo, error) from error


def _missing(conninfo: str, error: psycopg.OperationalError) -> DatabaseMissing:
    if stale := not_running(conninfo, error):
        return DatabaseMissing(f"{stale} ({str(error).strip()})")
    try:
        parts = psycopg.conninfo.conninfo_to_dict(conninfo)
    except psycopg.Error:
        parts = {}
    place = f"{parts.get('dbname') or 'the default database'} on {parts.get('host') or 'the local socket'}"
    return DatabaseMissing(
        f"cannot connect to {place}: is the server running, and does that database exist?"
        f" Start one here with: postmill up ({str(error).strip()})"
    )
