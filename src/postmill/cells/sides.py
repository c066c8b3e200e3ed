"""The cells as the settings name them, and connections to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg

from postmill import bind, connections
from postmill.domain.errors import DatabaseMissing, SchemaMissing, SchemaTooNew, SchemaTooOld, SettingsError
from postmill.domain.settings_cells import CellSettings, cell_named, directory_of
from postmill.schema.check import check
from postmill.store.carrying import same_text
from postmill.store.statement import Statement

T = TypeVar("T")
Conn = psycopg.Connection[Any]

PATIENCE = 10
"""Seconds to wait for a connection to a cell."""


@dataclass(frozen=True, slots=True)
class Side:
    """A connection to one cell, in autocommit mode."""

    cell: str
    conn: Conn

    def run(self, statement: Statement[T]) -> T:
        """One statement."""
        return bind.run(self.conn, statement)


ENDED = """set idle_in_transaction_session_timeout = '60s'; set tcp_keepalives_idle = 10;
set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3"""
"""By these a server ends the session of a mover whose machine is gone or stands still: another mover can go on then."""


@contextmanager
def side(cells: Mapping[str, CellSettings], name: str, schema: str) -> Iterator[Side]:
    """A connection to the cell of that name.

    Raises:
        NotFound: the settings have no such cell.
        DatabaseMissing: it does not answer.
        SchemaMissing, SchemaTooOld, SchemaTooNew: its schema is not one to work on.
    """
    cell = cell_named(cells, name)
    try:
        conn = connections.connect(cell.dsn, "postmill cells", connect_timeout=PATIENCE)
    except psycopg.OperationalError as fault:
        raise DatabaseMissing(f"cell {name!r} does not answer: {str(fault).strip()[:300]}") from None
    with conn:
        conn.execute(ENDED)
        try:
            check(conn, schema).require()
        except (SchemaMissing, SchemaTooOld, SchemaTooNew) as fault:
            raise type(fault)(f"in cell {name!r} {fault}") from None
        found = Side(name, conn)
        found.run(same_text(schema=schema))
        yield found


def directory_name(cells: Mapping[str, CellSettings]) -> str:
    """The cell that holds the directory. Raises SettingsError where there are no cells."""
    found = directory_of(cells)
    if found is None:
        raise SettingsError(
            "the settings have no cells: write [cells.NAME] with database_url, and directory = true in one of them"
        )
    return found
