"""The tables of a schema, as the database's catalogs have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import Connection

_COLUMNS = """
    select c.relname::text, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod),
           coalesce(a.attnum = any (k.conkey), false), f.target::text
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
      left join lateral (select min(t.relname) as target from pg_constraint r join pg_class t on t.oid = r.confrelid
                          where r.conrelid = c.oid and r.contype = 'f' and r.conkey[1] = a.attnum) f on true
     where c.relnamespace = %s::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     order by c.relname, a.attnum
"""


@dataclass(frozen=True, slots=True)
class Column:
    """`refers`: the table that a foreign key of the column leads to."""

    name: str
    type: str
    key: bool
    refers: str | None


Tables = dict[str, list[Column]]


def tables(conn: Connection[Any], schema: str) -> Tables:
    """By name; partitions are their parents'."""
    made: Tables = {}
    for table, name, kind, key, refers in conn.execute(_COLUMNS, [schema]):
        made.setdefault(table, []).append(Column(name, _short(kind), key, refers))
    return made


def _short(kind: str) -> str:
    for long, short in (
        ("timestamp with time zone", "timestamptz"),
        ("double precision", "float8"),
        ("character varying", "varchar"),
    ):
        kind = kind.replace(long, short)
    return kind.removeprefix("postmill.")
