"""What a move of a tenant carries is said of every table: a new one that has to do with a tenant must be named."""

from __future__ import annotations

from typing import Any

from psycopg import Connection
from psycopg.rows import scalar_row

from postmill import bind
from postmill.store.carrying import carried_tables, left_tables

OF_A_TENANT = [
    "tenant_id",
    "job_id",
    "trigger_id",
    "webhook_id",
    "budget_id",
    "workflow_id",
    "incident_id",
    "operation_id",
]
BY_INDEX = {
    "job": "tenant_id_id_idx",
    "attempt": "finished_at",
    "outcome": "finished_at",
    "scheduled": "scheduled_run_at",
    "dead_letter": "dead_letter_tenant",
    "idempotency_key": "idempotency_key_pkey",
    "event": "event_",
    "artifact": "artifact_tenant",
    "job_tag": "job_tag_tenant",
}
TICKETS = {"ready", "scheduled", "blocked", "running"}


def test_each_table_of_tenants_is_carried_or_left(pg: Connection[Any]) -> None:
    tables = pg.cursor(row_factory=scalar_row).execute(
        "select distinct c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0"
        " where c.relnamespace = 'postmill'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition"
        " and a.attname = any(%s)",
        [OF_A_TENANT],
    )
    found = set(tables) | TICKETS
    carried = [table.name for table in bind.run(pg, carried_tables())]
    left = bind.run(pg, left_tables())
    assert len(set(carried)) == len(carried)
    assert not set(carried) & set(left), "carried and left"
    unsaid = found - set(carried) - set(left)
    assert not unsaid, f"carried_tables() or left_tables() must name: {sorted(unsaid)}"
    assert set(left) <= found, f"there is no such table: {sorted(set(left) - found)}"
    assert all(len(why.split()) > 2 for why in left.values())
    pg.execute("set enable_seqscan = off")
    assert referred(pg) & {t.name for t in bind.run(pg, carried_tables()) if t.how == "bulk"} == set()
    for name in carried:
        row = pg.execute(
            "select postmill.copy_out(%s, postmill.new_id(), now() - interval '1 day', now())", [name]
        ).fetchone()
        assert row is not None
        query = str(row[0]).removeprefix("copy (").rpartition(") to stdout")[0]
        plan = "\n".join(line for (line,) in pg.execute(f"explain {query}".encode()))
        # What can have a million rows of others is found by an index.
        assert BY_INDEX.get(name, "") in plan, (name, plan)


def referred(pg: Connection[Any]) -> set[str]:
    """Tables that a foreign key leads to: their rows cannot be taken away and laid down anew."""
    return set(
        pg.cursor(row_factory=scalar_row).execute(
            "select c.relname from pg_constraint f join pg_class c on c.oid = f.confrelid where f.contype = 'f'"
        )
    )
