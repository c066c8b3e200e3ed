"""Is a client of this version one that may work on the schema? Asked once, when it connects first."""

from __future__ import annotations

from typing import Any

import psycopg

from postmill.schema.check import acheck, check


def require_fit(conn: psycopg.Connection[Any], schema: str) -> None:
    """Raises SchemaTooNew where a newer version made a breaking change. A role that may not look is let through."""
    try:
        check(conn, schema).refuse_newer()
    except psycopg.errors.InsufficientPrivilege:
        return


async def arequire_fit(conn: psycopg.AsyncConnection[Any], schema: str) -> None:
    """As `require_fit`, for awaiting."""
    try:
        (await acheck(conn, schema)).refuse_newer()
    except psycopg.errors.InsufficientPrivilege:
        return
