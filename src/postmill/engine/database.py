"""Connections of the engine, and what counts as the database being away."""

from __future__ import annotations

import random

import psycopg
from psycopg import AsyncConnection, RawCursor
from psycopg.conninfo import make_conninfo
from psycopg.raw_cursor import AsyncRawCursor

from postmill import connections
from postmill.engine.own_settings import refused, with_settings
from postmill.engine.raw import register_raw
from postmill.store.catalog import DEFAULT_SCHEMA, sql

# A dead peer is noticed within about 25 s even where nobody sends; harmless on a unix socket.
_KEEPALIVE: dict[str, str | int] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20000,
    # Whatever the role has: a text that the client's encoding has no letters for would fail the claim that reads it.
    "client_encoding": "utf8",
}

# Read-only: a failover left us on a standby. 57P0x: the server goes down or is not up yet. 08: connection lost. 57P05,
# 25P03 and 25P04: taken from us for having been idle, or at it for too long.
_OUTAGE_STATES = frozenset({"25006", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "53300"})


def is_outage(error: BaseException) -> bool:
    """Is it the database that is away, rather than the statement that is wrong?"""
    if isinstance(error, OSError):
        return True
    if not isinstance(error, psycopg.Error):
        return False
    state = error.sqlstate
    if state is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return state in _OUTAGE_STATES or state.startswith("08")


# Serialization failure, deadlock, lock timeout, and a cancel: by somebody, or by a statement_timeout of the role.
_AGAIN_STATES = frozenset({"40001", "40P01", "55P03", "57014"})


def is_conflict(error: BaseException) -> bool:
    """The statement was given up for what others did: it may be run again."""
    return isinstance(error, psycopg.Error) and error.sqlstate in _AGAIN_STATES


def conninfo_for(dsn: str) -> str:
    """The connection string of the engine's connections."""
    return make_conninfo(dsn, **_KEEPALIVE)


def name_of(role: str) -> str:
    """What shows in pg_stat_activity for one of the engine's connections."""
    return f"postmill {role}"


_TRANSACTION_TIMEOUT = sql("session/transaction_timeout", DEFAULT_SCHEMA).encode()
_NO_LIMIT = ((None,), ("0",))


async def connect(
    dsn: str, role: str, *, prepared: bool = True, raw: bool = True
) -> AsyncConnection[tuple[object, ...]]:
    """Open an autocommit connection that speaks raw bytes, or Python's own types.

    With settings of its own where the way to the server bears it.
    """

    async def opened(conninfo: str) -> AsyncConnection[tuple[object, ...]]:
        return await connections.aconnect(
            conninfo, name_of(role), prepared=prepared, cursor_factory=AsyncRawCursor
        )

    plain = conninfo_for(dsn)
    try:
        connection = await opened(with_settings(plain))
        try:
            limit = await (await connection.execute(_TRANSACTION_TIMEOUT)).fetchone()
        except BaseException:  # a cancel, too: nobody else knows this connection
            await connection.close()
            raise
        if limit not in _NO_LIMIT:
            await connection.close()
            connection = await opened(with_settings(plain, since_17=True))
    except psycopg.OperationalError as error:
        if not refused(error):
            raise
        connection = await opened(plain)
    if prepared:
        connection.prepare_threshold = 0  # each statement of the hot path at its first use
    if raw:
        register_raw(connection.adapters)
    # In a transaction each statement must see what was committed meanwhile, whatever the role's default is.
    await connection.set_isolation_level(psycopg.IsolationLevel.READ_COMMITTED)
    await connection.set_read_only(False)
    return connection


def connect_blocking(dsn: str, role: str, *, prepared: bool = True) -> psycopg.Connection[tuple[object, ...]]:
    """As `connect`, for the thread of the lease."""

    def opened(conninfo: str) -> psycopg.Connection[tuple[object, ...]]:
        return connections.connect(conninfo, name_of(role), prepared=prepared, cursor_factory=RawCursor)

    plain = conninfo_for(dsn)
    try:
        connection = opened(with_settings(plain))
        try:
            limit = connection.execute(_TRANSACTION_TIMEOUT).fetchone()
        except BaseException:
            connection.close()
            raise
        if limit not in _NO_LIMIT:
            connection.close()
            connection = opened(with_settings(plain, since_17=True))
    except psycopg.OperationalError as error:
        if not refused(error):
            raise
        connection = opened(plain)
    register_raw(connection.adapters)
    return connection


class Backoff:
    """Growing, jittered delays in seconds: 0.1, 0.2 … up to `most`, each times 0.5 to 1."""

    def __init__(self, most: float = 5.0) -> None:
        self._most = most
        self._next = 0.1

    def reset(self) -> None:
        self._next = 0.1

    def delay(self) -> float:
        delay = self._next * random.uniform(0.5, 1.0)
        self._next = min(self._most, self._next * 2)
        return delay
