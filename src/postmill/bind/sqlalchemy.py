"""SQLAlchemy, sync and async. Never unwrapped: the raw connection of a session that has not begun commits."""

from __future__ import annotations

import sys
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.orm import Session, scoped_session

from postmill.bind.runner import Awaiting, Blocking, named, pyformat
from postmill.store.statement import Rows, Statement


def runner_for(kind: type) -> Blocking | Awaiting | None:
    """The runner for this kind of connection or session."""
    if issubclass(kind, Connection | Session | scoped_session):
        return Blocking(_fetch)
    # Whoever has one of these has imported that package; it needs greenlet, which synchronous programs may lack.
    if "sqlalchemy.ext.asyncio" not in sys.modules:
        return None
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session

    known = issubclass(kind, AsyncConnection | AsyncSession | async_scoped_session)
    return Awaiting(_afetch) if known else None


def _fetch(conn: Any, statement: Statement[Any]) -> Rows:
    conn = conn if isinstance(conn, Connection) else conn.connection()
    return conn.exec_driver_sql(*_in_style(conn.dialect, statement)).fetchall()  # type: ignore[no-any-return]


async def _afetch(conn: Any, statement: Statement[Any]) -> Rows:
    from sqlalchemy.ext.asyncio import AsyncConnection

    conn = conn if isinstance(conn, AsyncConnection) else await conn.connection()
    result = await conn.exec_driver_sql(*_in_style(conn.dialect, statement))
    return result.fetchall()  # type: ignore[no-any-return]


def _in_style(dialect: Any, statement: Statement[Any]) -> tuple[str, Any]:
    if dialect.name == "postgresql" and dialect.paramstyle == "numeric_dollar":
        return statement.sql, statement.args
    if dialect.name == "postgresql" and dialect.paramstyle == "pyformat":
        return pyformat(statement.sql), named(statement.args)
    raise TypeError(f"postmill needs PostgreSQL by psycopg or asyncpg, not {dialect.name}+{dialect.driver}")
