"""Connections of the engine, and what counts as the database being away."""

from __future__ import annotations

import random

import psycopg
from psycopg import AsyncConnection, RawCursor
from psycopg.conninfo import make_conninfo
from psycopg.raw_cursor import AsyncRawCursor

from postmill.engine.raw import register_raw

# A dead peer is noticed within about 25 s even where nobody sends; harmless on a unix socket.
_KEEPALIVE: dict[str, str | int] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20000,
}

# Read-only: a failover left us on a standby. 57P0x: the server goes down or is not up yet. 08: connection lost.
_OUTAGE_STATES = frozenset({"25006", "57P01", "57P02", "57P03", "53300"})


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


def conninfo_for(dsn: str, role: str) -> str:
    """The connection string of one of the engine's connections; `role` shows in pg_stat_activity."""
    return make_conninfo(dsn, application_name=f"postmill {role}", **_KEEPALIVE)


async def connect(dsn: str, role: str, *, prepared: bool = True) -> AsyncConnection[tuple[object, ...]]:
    """Open an autocommit connection that speaks raw bytes."""
    connection = await AsyncConnection.connect(
        conninfo_for(dsn, role), autocommit=True, cursor_factory=AsyncRawCursor
    )
    # Each statement of the hot path is prepared at its first use.
    connection.prepare_threshold = 0 if prepared else None
    register_raw(connection.adapters)
    # In a transaction each statement must see what was committed meanwhile, whatever the role's default is.
    await connection.set_isolation_level(psycopg.IsolationLevel.READ_COMMITTED)
    return connection


def connect_blocking(dsn: str, role: str) -> psycopg.Connection[tuple[object, ...]]:
    """As `connect`, for the thread of the lease."""
    connection = psycopg.Connection.connect(
        conninfo_for(dsn, role), autocommit=True, cursor_factory=RawCursor
    )
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
