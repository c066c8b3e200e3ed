"""The application's SQL: one statement per file in sql/, read when first used; its tables and views in schema/."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Protocol

from psycopg.rows import dict_row

FOLDER = Path(__file__).parent

Row = dict[str, Any]


class Connection(Protocol):
    """A psycopg connection, or an open transaction on one: what runs a statement on the async side."""

    async def execute(self, query: Any, params: Any = None) -> Any: ...


@cache
def text(name: str) -> bytes:
    """The text of sql/<name>.sql, in bytes: psycopg takes those without asking who put them together."""
    return (FOLDER / "sql" / f"{name}.sql").read_bytes()


async def rows(conn: Connection, name: str, /, **values: Any) -> list[Row]:
    """What one statement answers, by the names of the columns."""
    cursor = await conn.execute(text(name), values)
    cursor.row_factory = dict_row
    found: list[Row] = await cursor.fetchall()
    return found


async def row(conn: Connection, name: str, /, **values: Any) -> Row | None:
    """The first row of an answer, or None."""
    found = await rows(conn, name, **values)
    return found[0] if found else None


def schema() -> bytes:
    """The application's tables and views; applying them again changes nothing."""
    return b"\n".join(path.read_bytes() for path in sorted((FOLDER / "schema").glob("*.sql")))


def sources() -> bytes:
    """The sources that a new installation begins with."""
    return (FOLDER / "sources.sql").read_bytes()
