"""Two tenants, each with something in every table that has a tenant: what one owns must never reach the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import md5
from typing import Any
from uuid import UUID, uuid4

from psycopg import Connection
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

JOB_TYPE = "world"
QUEUE = "world"

CLAIM = """select c.id, 1 from postmill.claim(%s, 1, 100, array[%s], array[%s::uuid], array[100],
    array[null::timestamptz], array[100]) c"""


@dataclass
class Tenant:
    """One tenant. `mark` stands in everything of it that is text."""

    id: UUID
    mark: str
    ids: dict[str, UUID] = field(default_factory=dict)

    @property
    def group(self) -> str:
        """The id of its error group."""
        return md5(self.mark.encode()).hexdigest()[:16]

    @property
    def traces(self) -> list[str]:
        """What must not be read by others: the mark, its id, and the ids of what it has."""
        return [self.mark, str(self.id), *map(str, self.ids.values())]


# What a row must have in tables that have a tenant, beyond what its columns' types tell. A table that is not here is
# filled by the types alone; it needs an entry only where that is refused.
ROWS: dict[str, dict[str, Any]] = {
    "project": {},
    "api_key": {"role": "tenant_admin"},
    "console_session": {"role": "viewer", "expires_at": "2100-01-01T00:00Z"},
    "login_link": {"role": "viewer", "expires_at": "2100-01-01T00:00Z"},
    "trigger": {"trigger_type": "event", "event_name": "world.made"},
    "event": {"name": "world.made"},
    "tick": {"outcome": "skipped"},
    "event_delivery": {"outcome": "failed"},
    "webhook": {"event_name": "world.made"},
    "budget_line": {"kind": "spend"},
    "artifact": {"expires_at": "2100-01-01T00:00Z"},
    "operation": {"kind": "replay", "stage": "rest", "status": "paused"},
    "tenant_gate": {"stage": "leaving"},
    "tenant_move": {"to_cell": "elsewhere", "status": "done"},
    "operation_item": {},
    "rollup": {"outcome": "succeeded"},
    "rollup_part": {"outcome": "succeeded"},
    "http_session": {},
    "http_claim": {"expires_at": "2100-01-01T00:00Z"},
    "incident": {"kind": "budget", "severity": "info"},
    "incident_part": {},
    "notification": {"event": "trigger"},
    "job_kept": {"queue": QUEUE, "job_type": JOB_TYPE, "id": None},
    "retention_rule": {"subject": "failed"},
    "workflow": {"kind": "workflow"},
    "workflow_step": {"state": "held", "no": 1},
    "workflow_edge": {"policy": "hold", "parent": 0, "child": 1},
}
OPTIONAL = {"detail", "label", "payload_template", "created_by", "target", "message", "name"}
"""Columns that could stay empty, but would prove less then."""

COLUMNS = """select a.attname, format_type(a.atttypid, null), a.attnotnull and not a.atthasdef and a.attidentity = ''
    from pg_attribute a where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum"""


def build(conn: Connection[Any], *marks: str) -> list[Tenant]:
    """A tenant for each mark."""
    conn.execute("select * from postmill.register_job_types(%s)", ['[{"key": "world", "queue": "world"}]'])
    made = []
    for mark in marks:
        row = conn.execute(
            "insert into postmill.tenant (id, slug, name) values (%s, %s, %s) returning id",
            (uuid4(), mark, mark),
        ).fetchone()
        assert row is not None
        tenant = Tenant(row[0], mark)
        _jobs(conn, tenant)
        conn.execute(
            "select postmill.audit('world.make', 'world', %s, %s, null, %s)",
            (mark, tenant.id, Jsonb({"mark": mark})),
        )
        for table in [*ROWS, *sorted(set(tables(conn)) - ROWS.keys())]:
            if table in tables(conn):
                _row(conn, tenant, table)
        made.append(tenant)
    return made


def tables(conn: Connection[Any]) -> list[str]:
    """Tables that have a tenant."""
    rows = conn.execute(
        "select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'"
        " where c.relnamespace = 'postmill'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition"
    ).fetchall()
    return sorted(row[0] for row in rows)


def _row(conn: Connection[Any], tenant: Tenant, table: str) -> None:
    """One row of the tenant's in a table, where there is none yet."""
    name = Identifier("postmill", table)
    if (
        conn.execute(SQL("select from {} where tenant_id = %s limit 1").format(name), [tenant.id]).fetchone()
        is not None
    ):
        return
    columns = conn.execute(COLUMNS, [f"postmill.{table}"]).fetchall()
    said = ROWS.get(table, {})
    values = {
        column: said[column] if said.get(column) is not None else _value(conn, tenant, column, kind)
        for column, kind, needed in columns
        if needed or column in said or column in OPTIONAL or column == "tenant_id"
    }
    insert = SQL("insert into {} ({}) values ({}) returning to_jsonb({}.*)").format(
        name,
        SQL(", ").join(map(Identifier, values)),
        SQL(", ").join(SQL("%s") * len(values)),
        Identifier(table),
    )
    row = conn.execute(insert, list(values.values())).fetchone()
    assert row is not None
    ids = {column for column, kind, _ in columns if kind == "uuid"}
    own = next(
        (row[0][key] for key in ("id", "holder", "event_id", "trigger_id", "job_id") if key in ids), None
    )
    if own is not None:
        tenant.ids[table] = UUID(own)


def _value(conn: Connection[Any], tenant: Tenant, column: str, kind: str) -> Any:
    if column == "tenant_id":
        return tenant.id
    if column == "definition_id":
        row = conn.execute("select id from postmill.job_definition where key = %s", [JOB_TYPE]).fetchone()
        assert row is not None
        return row[0]
    if column == "job_id":
        return tenant.ids["queued"]
    if column == "id" and kind == "uuid":
        # Of long ago, as ids that the server makes tell it: a body that outlived its partition.
        return UUID(
            int=(int((datetime.now(UTC) - timedelta(days=300)).timestamp() * 1000) << 80)
            | (uuid4().int >> 52)
        )
    known = tenant.ids.get(column.removesuffix("_id"))
    if kind == "uuid":
        return known or uuid4()
    return {
        "jsonb": Jsonb({"mark": tenant.mark}),
        "text[]": [tenant.mark],
        "bytea": tenant.mark.encode().ljust(32, b"-")[:32],
        "integer": 1,
        "bigint": 1,
        "numeric": 1,
        "double precision": 1.0,
        "boolean": True,
        "timestamp with time zone": datetime.now(UTC),
        "interval": timedelta(hours=1),
    }.get(kind, tenant.mark)


def _jobs(conn: Connection[Any], tenant: Tenant) -> None:
    """One job in each state, with everything that history has of it."""
    holder = uuid4()
    conn.execute("select postmill.open_session(%s, 600, %s, 'host', 1, '1', %s, '{}', %s, '{}')",
                 (holder, "host:1:boot", [QUEUE], [JOB_TYPE]))  # fmt: skip
    ended = ("succeeded", "failed", "dead", "retried", "running")
    for name in ended:
        tenant.ids[name] = _enqueue(conn, tenant)
    claims = dict(conn.execute(CLAIM, (holder, QUEUE, tenant.id)).fetchall())
    assert set(claims) == {tenant.ids[name] for name in ended}

    def fence(name: str) -> tuple[Any, ...]:
        return (holder, tenant.ids[name], claims[tenant.ids[name]], tenant.id)

    conn.execute("select postmill.complete(%s, array[%s::uuid], array[%s::bigint], array[%s::uuid], array[5000::bigint],"
                 " array[jsonb_build_object('mark', %s::text)])", (*fence("succeeded"), tenant.mark))  # fmt: skip
    conn.execute("select postmill.finish(%s, array[%s::uuid], array[%s::bigint], array[%s::uuid], array[5000::bigint],"
                 " array['failed'], array['failed'], array['no'], array['ValueError'], null, array[%s])",
                 (*fence("failed"), tenant.mark))  # fmt: skip
    conn.execute("select postmill.bury(%s, array[%s::uuid], array[%s::bigint], array[%s::uuid], array[5000::bigint],"
                 " array['failed'], array['poison'], array['ValueError'], null, array[%s], null, array[%s])",
                 (*fence("dead"), tenant.mark, tenant.mark))  # fmt: skip
    conn.execute("select postmill.put_back(%s, array[%s::uuid], array[%s::bigint], array[%s::uuid], array[5000::bigint],"
                 " array['failed'], array[3600::float8], null, array['OSError'], null, array[%s])",
                 (*fence("retried"), tenant.mark))  # fmt: skip
    conn.execute("insert into postmill.progress (job_id, holder, claim_no, done, message, at) values (%s, %s, 1, 1, %s, now())",
                 (tenant.ids["running"], holder, tenant.mark))  # fmt: skip
    group = (tenant.group, tenant.mark, tenant.mark)
    conn.execute("insert into postmill.error_group (id, job_type, error_class, message, frame, first_seen_at, last_seen_at,"
                 " count) values (%s, 'world', 'ValueError', %s, %s, now(), now(), 1)", group)  # fmt: skip
    conn.execute("insert into postmill.error_group_part (id, tenant_id, job_type, error_class, message, frame, first_at,"
                 " last_at, n) values (%s, %s, 'world', 'ValueError', %s, %s, now(), now(), 1)",
                 (tenant.group, tenant.id, tenant.mark, tenant.mark))  # fmt: skip
    conn.execute("insert into postmill.error_group_minute (id, tenant_id, minute, n) values (%s, %s, postmill.now(), 1)",
                 (tenant.group, tenant.id))  # fmt: skip
    conn.execute("insert into postmill.error_group_tenant (id, tenant_id, first_seen_at, last_seen_at, count, sample_job)"
                 " values (%s, %s, now(), now(), 1, %s)", (tenant.group, tenant.id, tenant.ids["dead"]))  # fmt: skip
    conn.execute("insert into postmill.error_group_note (id, at, actor_type, actor_id, text) values (%s, now(), 'user', %s, %s)",
                 (tenant.group, tenant.mark, tenant.mark))  # fmt: skip
    tenant.ids["queued"] = _enqueue(conn, tenant, key=tenant.mark)
    tenant.ids["scheduled"] = _enqueue(conn, tenant, delay="1 hour")


def _enqueue(
    conn: Connection[Any], tenant: Tenant, *, key: str | None = None, delay: str | None = None
) -> UUID:
    row = conn.execute(
        "select postmill.enqueue('world', jsonb_build_object('mark', %s::text), tenant => %s, key => %s,"
        " delay => %s::interval)",
        (tenant.mark, tenant.id, key, delay),
    ).fetchone()
    assert row is not None
    return UUID(str(row[0]))
