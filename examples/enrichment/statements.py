"""The application's SQL: one statement per file in sql/, read when first used."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Protocol

FOLDER = Path(__file__).parent


class Connection(Protocol):
    """A psycopg connection, or an open transaction on one: what runs a statement on the async side."""

    async def execute(self, query: Any, params: Any = None) -> Any: ...


@cache
def text(name: str) -> bytes:
    """The text of sql/<name>.sql, in bytes: psycopg takes those without asking who put them together."""
    return (FOLDER / "sql" / f"{name}.sql").read_bytes()


async def one(conn: Connection, name: str, **values: Any) -> Any:
    """The first column of the first row, or None where there is no row."""
    row = await (await conn.execute(text(name), values)).fetchone()
    return None if row is None else row[0]


def schema() -> bytes:
    """The application's tables and views; applying them again changes nothing."""
    return (FOLDER / "schema.sql").read_bytes()
