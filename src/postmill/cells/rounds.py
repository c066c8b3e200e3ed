"""What one cell has of a tenant and the other has not got yet, in a constant number of statements."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import psycopg

from postmill.cells.sides import Side
from postmill.store import carrying as rows
from postmill.store.catalog import DEFAULT_SCHEMA


def tell(
    source: Side, target: Side, tenant: UUID, since: datetime | None, *, schema: str = DEFAULT_SCHEMA
) -> None:
    """Lets the source know what the target has by now; of what grows, what was added since."""
    out = target.run(rows.carry_digests(tenant, since, schema=schema))
    into = source.run(rows.carry_known(schema=schema))
    pour(target, out, source, into)
    source.conn.execute("analyze pg_temp.carry_known")


def ahead(
    source: Side, target: Side, tenant: UUID, since: datetime | None, *, schema: str = DEFAULT_SCHEMA
) -> dict[str, int]:
    """One round while all goes on: the target gets the rest. How many rows were new, by table."""
    tell(source, target, tenant, since, schema=schema)
    with target.conn.transaction():
        rest = source.run(rows.carry_rest(tenant, since, False, schema=schema))
        pour(source, rest, target, target.run(rows.carry_place(schema=schema)))
        return target.run(rows.carry_down(tenant, schema=schema))


def pour(source: Side, out: str, target: Side, into: str) -> None:
    """What one COPY reads, into another one."""
    with (
        psycopg.RawCursor(source.conn) as reading,
        psycopg.RawCursor(target.conn) as writing,
        reading.copy(out.encode()) as pieces,
        writing.copy(into.encode()) as place,
    ):
        for piece in pieces:
            place.write(bytes(piece))
