"""A database that has seen many jobs: a fixed share of them in each state, spread over weeks and tenants."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

# From the beginning of a partition on, three weeks or more: of one with 200 rows a plan reads all, look-up by look-up.
# Of 20 jobs 12 have ended well, 1 badly, 5 are queued, 2 wait for their time. Tenant 0 has every second one.
SEED = """
set synchronous_commit = off;
set work_mem = '256MB';
select postmill.ensure_partitions(postmill.now() - interval '21 days');
create temp table seed as
select g as n, case when g %% 2 = 0 then 0 else g %% 100 end as t, g %% 20 as kind, m.moment,
       (left(postmill.id_at(m.moment)::text, 14) || '7' || substr(md5(g::text), 1, 3) || '-8'
        || substr(md5(g::text), 4, 3) || '-' || substr(md5(g::text), 7, 12))::uuid as id
  from generate_series(1, %(n)s) g
 cross join (select (postmill.now() - max(x.since) - interval '2 minutes') / %(n)s as step from postmill.partition x
              where x.parent = 'job' and x.since <= postmill.now() - interval '20 days') p
 cross join lateral (select postmill.now() - (%(n)s - g) * p.step - interval '1 minute' as moment) m;
create temp view seeded as
select s.*, (lpad(to_hex(s.t + 1), 8, '0') || '-0000-0000-0000-000000000000')::uuid as tenant from seed s;
insert into postmill.job (id, tenant_id, job_type, queue, payload, priority, max_attempts, created_at)
select id, tenant, 'plain', 'default', '{}', 100, 3, moment from seeded;
insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
select 'default', tenant, 100, moment, id, 1, 0, 0 from seeded where kind between 13 and 17;
insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
select 'default', tenant, postmill.now() + interval '1 day' + n * interval '1 second', id, 100, 1, 0, 0
  from seeded where kind >= 18;
insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, attempt_status, holder, claim_no)
select id, tenant, case when kind < 12 then 'succeeded' else 'failed' end, moment + interval '1 second', 1, 1, 0,
       'succeeded', md5('h')::uuid, n from seeded where kind <= 12;
insert into postmill.attempt (job_id, tenant_id, attempt, run, holder, claim_no, started_at, finished_at, status)
select id, tenant, 1, 1, md5('h')::uuid, n, moment, moment, 'failed' from seeded where kind in (12, 13);
insert into postmill.idempotency_key (tenant_id, project_id, key, job_type, job_id, mode, first_seen_at, last_seen_at)
select tenant, '00000000-0000-0000-0000-000000000000', n::text, 'plain', id, 'active', moment, moment
  from seeded where kind = 13;
"""

TABLES = (
    "job",
    "ready",
    "scheduled",
    "running",
    "outcome",
    "attempt",
    "idempotency_key",
    "dead_letter",
    "sleeper",
)
ANALYZE = "analyze " + ", ".join(f"postmill.{table}" for table in TABLES)


def seed(conn: Connection[Any], n: int, *, analyze: bool = True) -> None:
    """`n` jobs, in some seconds for a million. Autovacuum stays away, so that the statistics are what is said here."""
    conn.execute("""select * from postmill.register_job_types('[{"key": "plain"}]')""")
    for (table,) in conn.execute(
        """select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where n.nspname = 'postmill' and c.relkind = 'r'"""
    ).fetchall():
        conn.execute(f"alter table {table} set (autovacuum_enabled = off)".encode())
    for statement in SEED.split(";"):
        if statement.strip():
            conn.execute(statement.encode(), {"n": n} if "%(" in statement else None)
    if analyze:
        conn.execute(ANALYZE.encode())
