"""The application's SQL: one statement per file in sql/, read when first used; its tables are in schema/, in order."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Protocol

from psycopg.rows import dict_row

FOLDER = Path(__file__).parent

Row = dict[str, Any]


class Connection(Protocol):
    """A psycopg connection, or an open transaction on one."""

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


async def do(conn: Connection, name: str, /, **values: Any) -> int:
    """Runs a statement; how many rows it touched."""
    cursor = await conn.execute(text(name), values)
    touched: int = cursor.rowcount
    return touched


def schema() -> bytes:
    """Tables, roles and views; applying them again changes nothing."""
    return b"\n".join(path.read_bytes() for path in sorted((FOLDER / "schema").glob("*.sql")))
