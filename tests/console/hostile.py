"""Hostile texts in every field that takes text: what a page shows of them must be text (case 97)."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import Connection
from psycopg.sql import SQL, Composable, Identifier

from tests.access.world import JOB_TYPE, Tenant

VECTORS = (
    '"><img src=x onerror=alert(1)>',
    "'><svg onload=alert(2)>",
    "<script>alert(3)</script>",
    "</textarea></title></style><img src=x onerror=alert(4)>",
    '" autofocus onfocus=alert(5) <q onclick=alert(5)> x="',
    "' style='inset:0' onclick='alert(6)' <q onclick=alert(6)> x='",
    '<a href="javascript:alert(7)">x</a>',
    "{{7*7}}<q onclick=alert(0)>{%raw%}${7*7}",
    '<div hx-get="/danger" hx-trigger="load" data-live="x" data-src="/danger">',
    '<iframe srcdoc="<script>parent.alert(8)</script>"></iframe>',
    '<base href="//evil.test"><meta http-equiv=refresh content="0;url=//evil.test">',
    "\u202e\u2066<b onclick=alert(0)>\x1b[31m]]>--></b>",
    "</script><script type=module src=//evil.test></script>",
)
URL = "javascript:alert(9)//"
LINKS = ("runbook", "contact")
"""Columns that may become links: a hostile one begins as a link that runs something."""

SPOILED = ("attempt", "dead_letter", "error_group", "event", "incident", "job", "job_definition", "operation", "outcome",
           "queue", "trigger", "worker")  # fmt: skip
"""Tables of which the empty texts are filled, too."""

# Not free texts: what has a meaning that other rows or the code know.
MEANT = {
    "asked",
    "cron_expr",
    "error_group",
    "escalation",
    "idempotency",
    "timezone",
    "budget",
    "verb",
    "traceparent",
    "lane",
}

COLUMNS = """select c.relname, a.attname, format_type(a.atttypid, null), a.attnotnull
  from pg_class c join pg_attribute a on a.attrelid = c.oid
 where c.relnamespace = 'postmill'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
   and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.atttypid in (25, 3802, 1009)
   and exists (select from pg_attribute t where t.attrelid = c.oid and (t.attname = 'tenant_id' or c.relname = any(%s)))
 order by 1, 2"""


def vector(column: str) -> str:
    """The same for columns of the same name: rows of different tables are found by them."""
    return VECTORS[sum(column.encode()) % len(VECTORS)]


HOSTILE_TYPE = HOSTILE_QUEUE = JOB_TYPE + VECTORS[0]


def spoil(conn: Connection[Any], tenants: list[Tenant]) -> set[str]:
    """Makes the world's texts hostile, the tenants' marks still in them; the columns that took it."""
    took = set()
    # Constraints of values hold; keys between tables and acts on changes are not asked for.
    conn.execute("set session_replication_role = replica")
    platform = [*SPOILED, "error_group_note", "progress", "tenant"]
    for table, column, kind, needed in conn.execute(COLUMNS, [platform]).fetchall():
        if column == "slug":
            continue  # is checked wherever one is made, and is how the walk finds its tenants
        for statement, args in _spoilings(table, column, kind, needed, tenants):
            try:
                with conn.transaction():
                    n = conn.execute(statement, args).rowcount
            except (psycopg.errors.CheckViolation, psycopg.errors.RaiseException):
                continue
            if n:
                took.add(f"{table}.{column}")
    _rename(conn)
    conn.execute(SCHEMA.encode())
    took.add("job_definition.description")
    conn.execute("set session_replication_role = origin")
    return took


# The names of the shared job type and queue, wherever they stand.
NAMED = """select c.relname, a.attname, a.atttypid = 1009
  from pg_class c join pg_attribute a on a.attrelid = c.oid
 where c.relnamespace = 'postmill'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
   and a.attname in ('job_type', 'queue', 'queues', 'job_types', 'key', 'name', 'target') and a.atttypid in (25, 1009)"""

SCHEMA = """update postmill.job_definition set description = '<script>alert(3)</script>',
    arg_schema = '{"type": "object", "properties": {"<img src=x onerror=alert(1)>": {"type": "string",
      "title": "<svg onload=alert(2)>", "description": "</textarea><script>alert(3)</script>",
      "enum": ["\\"><img src=x onerror=alert(1)>", "</option></select><script>alert(3)</script>"]}}}'
   where key like 'world%'"""
"""What a definition says of its arguments: forms are made of it."""


def _rename(conn: Connection[Any]) -> None:
    for table, column, many in conn.execute(NAMED).fetchall():
        name, col = Identifier("postmill", table), Identifier(column)
        change = (
            "update {n} set {c} = array_replace({c}, %s, %s) where %s = any({c})"
            if many
            else ("update {n} set {c} = coalesce(%s, %s) where {c} = %s")
        )
        first = JOB_TYPE if many else HOSTILE_TYPE
        conn.execute(SQL(change).format(n=name, c=col), [first, HOSTILE_TYPE, JOB_TYPE])


def _spoilings(
    table: str, column: str, kind: str, needed: bool, tenants: list[Tenant]
) -> list[tuple[Composable, list[Any]]]:
    name, col = Identifier("postmill", table), Identifier(column)
    made: list[tuple[Composable, list[Any]]] = []
    for tenant in tenants:
        text = f"{URL}{tenant.mark}" if column in LINKS else tenant.mark + vector(column)
        if kind == "text":
            change = SQL("update {n} set {c} = %s where {c} = %s")
            made.append((change.format(n=name, c=col), [text, tenant.mark]))
        elif kind == "text[]":
            change = SQL("update {n} set {c} = array_replace({c}, %s, %s) where %s = any({c})")
            made.append((change.format(n=name, c=col), [tenant.mark, text, tenant.mark]))
        else:
            change = SQL(
                "update {n} set {c} = replace(replace({c}::text, '\"mark\":', to_json(%s::text) || ':'),"
                " to_json(%s::text)::text, to_json(%s::text)::text)::jsonb where strpos({c}::text, %s) > 0"
            )
            made.append((change.format(n=name, c=col), [vector(column), tenant.mark, text, tenant.mark]))
        if table in SPOILED and kind == "text" and not needed and column not in MEANT:
            fill = SQL("update {n} set {c} = %s where {c} is null and {t}").format(
                n=name, c=col, t=SQL("tenant_id = %s") if table not in PLATFORM else SQL("%s is not null")
            )
            value = URL if column in LINKS else vector(column) if table in PLATFORM else text
            made.append((fill, [value, tenant.id]))
        if table == "worker" and kind == "text" and needed:
            change = SQL("update {n} set {c} = {c} || %s where strpos({c}, 'onerror') = 0")
            made.append((change.format(n=name, c=col), [VECTORS[0]]))
    return made


PLATFORM = {"queue", "worker", "job_definition", "error_group"}
"""Tables without a tenant: their texts have no mark."""
