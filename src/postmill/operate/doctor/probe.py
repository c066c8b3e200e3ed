"""What the checks ask through: one connection of the doctor's own, statements by file name, rows as dicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.rows import dict_row

from postmill.domain.settings_cells import CellSettings
from postmill.store.catalog import sql

Row = dict[str, Any]

SLOWEST = "10s"
"""No check may burden the server for longer; one that would is reported as a failure of the check."""


@dataclass(frozen=True)
class Probe:
    """What the doctor asks through, and what workers and clients are set to do on the same way to the server.

    Attributes:
        conn: in autocommit mode; `another` opens one more like it.
        schema: Postmill's.
        listen: opens a connection by the setting `listen_url`; None where that is not set.
        prepared: the setting `prepared_statements`.
        notify: the setting `notify`.
        lease: the setting `worker.lease`, in seconds.
        cells: the setting `cells`.
    """

    conn: psycopg.Connection[Any]
    schema: str
    another: Callable[[], psycopg.Connection[Any]]
    listen: Callable[[], psycopg.Connection[Any]] | None = None
    prepared: bool = True
    notify: bool = True
    lease: float = 30.0
    cells: Mapping[str, CellSettings] = field(default_factory=dict)

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
