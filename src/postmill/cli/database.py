"""Which database, and a connection to it, with words for what can go wrong."""

from __future__ import annotations

import re
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from postmill import connections
from postmill.cli.errors import CliError
from postmill.cli.text import one_line
from postmill.client.address import not_running
from postmill.domain.errors import DatabaseMissing

PATIENCE = 10
"""Seconds to wait for a connection, where the DSN does not say itself."""

_AS_IN = "write postgresql://user:password@host:5432/dbname"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,30}", re.ASCII)


def described(dsn: str) -> str:
    """Where a DSN leads, without its password."""
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        return "(unreadable DSN)"
    host = parts.get("host") or parts.get("hostaddr") or "the local socket"
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"{parts.get('dbname') or parts.get('user') or 'default'} at {host}{port}"


def normalized(dsn: str, *, patience: str | int = PATIENCE) -> str:
    """A DSN for libpq: SQLAlchemy's spelling of the driver is dropped, and a time to wait is put in.

    Raises CliError (usage) for what is no DSN.
    """
    scheme, mark, rest = dsn.partition("://")
    if mark and scheme.startswith(("postgresql+", "postgres+")):
        dsn = f"postgresql://{rest}"
    elif mark and _SCHEME.fullmatch(scheme) and scheme not in ("postgresql", "postgres"):
        raise CliError(
            f"the database's DSN begins with {scheme}://, and Postmill works on PostgreSQL only", _AS_IN
        )
    try:
        parts = conninfo_to_dict(dsn)
        return dsn if "connect_timeout" in parts else make_conninfo(dsn, connect_timeout=patience)
    except psycopg.ProgrammingError as fault:
        raise CliError(
            f"the database's DSN cannot be read: {one_line(fault)}",
            _AS_IN,
        ) from None


def open_connection(dsn: str) -> psycopg.Connection[Any]:
    """A connection in autocommit mode. Raises DatabaseMissing, which says where it tried and why not."""
    try:
        return connections.connect(normalized(dsn), "postmill cli")
    except psycopg.OperationalError as fault:
        reason = one_line(fault, 300)
        said = not_running(dsn, fault) or f"cannot connect to database {described(dsn)}: {reason}"
        raise DatabaseMissing(said) from None
