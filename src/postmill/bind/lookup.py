"""Which binding a connection needs. Only libraries that the caller has imported are looked at."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import import_module
from typing import Any

from postmill.bind.runner import Awaiting, Blocking

# The module whose presence tells that a connection can be of this kind; the binding has the same name in
# here.
LIBRARIES = {
    "psycopg": "psycopg",
    "asyncpg": "asyncpg",
    "sqlalchemy": "sqlalchemy",
    "django": "django.db",
}

SYNC = "psycopg.Connection, SQLAlchemy Connection or Session, Django's connection"
ASYNC = "psycopg.AsyncConnection, asyncpg.Connection, SQLAlchemy AsyncConnection or AsyncSession"


def blocking_for(conn: Any) -> Blocking:
    """The runner for a connection that blocks; TypeError at once for anything else."""
    runner = _runner_for(_kind(conn))
    if isinstance(runner, Blocking):
        return runner
    if runner is not None:
        raise TypeError(f"{_name(conn)} is asynchronous: await the function whose name begins with 'a'")
    raise TypeError(f"{_name(conn)} is no connection that postmill knows; known are: {SYNC}{_hint(conn)}")


def awaiting_for(conn: Any) -> Awaiting:
    """The runner for a connection that is awaited; TypeError at once for anything else."""
    runner = _runner_for(_kind(conn))
    if isinstance(runner, Awaiting):
        return runner
    if runner is not None:
        raise TypeError(f"{_name(conn)} is synchronous: call the function whose name has no 'a' before it")
    raise TypeError(f"{_name(conn)} is no connection that postmill knows; known are: {ASYNC}{_hint(conn)}")


def can_copy(conn: Any) -> bool:
    """Whether the connection's driver can COPY; False for what is no connection."""
    runner = _runner_for(_kind(conn))
    return runner is not None and runner.load is not None


@lru_cache(maxsize=256)
def _runner_for(kind: type) -> Blocking | Awaiting | None:
    for binding, library in LIBRARIES.items():
        if library in sys.modules:
            runner: Blocking | Awaiting | None = import_module(f"postmill.bind.{binding}").runner_for(kind)
            if runner is not None:
                return runner
    return None


def _kind(conn: Any) -> type:
    return type(conn)


def _name(thing: object) -> str:
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def _hint(thing: object) -> str:
    if "pool" in type(thing).__name__.lower():
        return "; take a connection from the pool"
    return "; take a connection from the engine" if "Engine" in type(thing).__name__ else ""
