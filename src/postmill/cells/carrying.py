"""Carries rows of one tenant from one cell to the other: out by COPY, in by COPY, and then where they belong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import psycopg

from postmill.cells.sides import Side
from postmill.store.carrying import Carried, carry_in, copy_in, copy_out
from postmill.store.catalog import DEFAULT_SCHEMA

SLICE = timedelta(days=7)
"""History goes in pieces of this length, each in a transaction of its own."""

_EMPTY = 21
"""Bytes of a binary COPY without rows: its header and its trailer. Most tables have nothing of most tenants."""

Stretch = tuple[datetime | None, datetime | None]


def carry(
    source: Side,
    target: Side,
    tenant: UUID,
    tables: Sequence[Carried],
    stretch: Stretch = (None, None),
    *,
    schema: str = DEFAULT_SCHEMA,
) -> dict[str, int]:
    """The rows of these tables, in the order given; how many were new, by table. The target is in a transaction."""
    counts: dict[str, int] = {}
    for table in tables:
        counts[table.name] = counts.get(table.name, 0) + _one(
            source, target, tenant, table.name, stretch, schema
        )
    return counts


def slices(first: datetime, last: datetime) -> Iterator[Stretch]:
    """A stretch of time in pieces; the first one is open below."""
    low: datetime | None = None
    high = first + SLICE
    while high < last:
        yield low, high
        low, high = high, high + SLICE
    yield low, last


def _one(source: Side, target: Side, tenant: UUID, table: str, stretch: Stretch, schema: str) -> int:
    out = source.run(copy_out(table, tenant, *stretch, schema=schema))
    new = 0
    with psycopg.RawCursor(source.conn) as reading, reading.copy(out.encode()) as rows:
        first = b""
        for piece in rows:
            first += bytes(piece)
            if len(first) > _EMPTY:
                new = _put(target, table, first, rows, schema)
    return new


def _put(target: Side, table: str, first: bytes, rows: psycopg.Copy, schema: str) -> int:
    into = target.run(copy_in(table, schema=schema))
    with psycopg.RawCursor(target.conn) as writing, writing.copy(into.encode()) as place:
        place.write(first)
        for piece in rows:
            place.write(bytes(piece))
    return target.run(carry_in(table, schema=schema))
