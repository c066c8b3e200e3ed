"""What the checks ask through: one connection of the doctor's own, statements by file name, rows as dicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import dict_row

from postmill.store.catalog import sql

Row = dict[str, Any]

SLOWEST = "10s"
"""No check may burden the server for longer; one that would is reported as a failure of the check."""


@dataclass(frozen=True)
class Probe:
    """A connection in autocommit mode, the schema, and how to open a second connection for LISTEN.

    `listen` is None where the doctor has no other way to the server than its first connection.
    """

    conn: psycopg.Connection[Any]
    schema: str
    listen: Callable[[], psycopg.Connection[Any]] | None = None

    def ask(self, name: str, *args: object) -> list[Row]:
        """The rows of `sql/insight/<name>.sql`."""
        return ask(self.conn, self.schema, name, *args)

    def one(self, name: str, *args: object) -> Row:
        """The first row; an empty dict where there is none."""
        rows = self.ask(name, *args)
        return rows[0] if rows else {}


def ask(conn: psycopg.Connection[Any], schema: str, name: str, *args: object) -> list[Row]:
    """The rows of `sql/insight/<name>.sql` on any connection; none for a statement that answers nothing."""
    with psycopg.RawCursor(conn, row_factory=dict_row) as cursor:
        cursor.execute(sql(f"insight/{name}", schema).encode(), args or None)
        return cursor.fetchall() if cursor.description else []
