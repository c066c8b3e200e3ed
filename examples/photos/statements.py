"""The application's SQL: one statement per file in sql/, read when first used."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from psycopg import Connection, Cursor

FOLDER = Path(__file__).parent


@cache
def text(name: str) -> bytes:
    """The text of sql/<name>.sql, in bytes: psycopg takes those without asking who put them together."""
    return (FOLDER / "sql" / f"{name}.sql").read_bytes()


def run(conn: Connection[Any], name: str, /, **values: object) -> Cursor[Any]:
    """Execute one statement."""
    return conn.execute(text(name), values)


def schema() -> bytes:
    """The application's tables; applying them again changes nothing."""
    return (FOLDER / "schema.sql").read_bytes()
