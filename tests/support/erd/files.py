"""The drawings, by the file in docs/assets that each is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from psycopg import Connection

from examples.homepage import statements
from tests.support.erd.drawing import drawing
from tests.support.erd.groups import GROUPS, VALUES
from tests.support.erd.tables import tables

ASSETS = Path(__file__).parents[3] / "docs/assets"


def drawings(conn: Connection[Any]) -> Mapping[Path, str]:
    """All of them, of a migrated database to which the homepage's tables are added.

    Raises:
        ValueError: a table of Postmill's is in no group, in two, or is no more.
    """
    conn.execute(statements.schema())
    return {ASSETS / f"tables-{name}.svg": text for name, text in _drawings(conn)}


def _drawings(conn: Connection[Any]) -> Iterator[tuple[str, str]]:
    found = tables(conn, "postmill")
    grouped = [table for names in GROUPS.values() for table in names.split()]
    if sorted(grouped) != sorted(found):
        odd = sorted(set(grouped) ^ set(found)) or "a table that stands in two"
        raise ValueError(f"tests/support/erd/groups.py has other tables than the schema: {odd}")
    for name, group in GROUPS.items():
        yield (
            name,
            drawing(f"Postmill's tables: {name}", {table: found[table] for table in group.split()}, VALUES),
        )
    yield "homepage", drawing("The homepage's tables", tables(conn, "public"))
