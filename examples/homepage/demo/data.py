"""What the demo reads and writes in the database: one statement per file in sql/ beside this module."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from examples.homepage.statements import Row


@cache
def _text(name: str) -> bytes:
    return (Path(__file__).parent / "sql" / f"{name}.sql").read_bytes()


def rows(conn: Connection[Any], name: str, /, **values: Any) -> list[Row]:
    """What one statement answers, by the names of the columns."""
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(_text(name), values).fetchall()
