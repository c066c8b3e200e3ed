"""Many dead letters of twelve causes, as a bad week leaves them: with stacks, over three tenants."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

CAUSES = (
    (429, "max_retries_exceeded", "QuotaExceeded", "quota exceeded for project bakery"),
    (401, "permanent_error", "InvalidKey", "the API key is not valid"),
    (404, "permanent_error", "ModelNotFound", "there is no model text-embedding-9"),
    (400, "permanent_error", "InvalidInput", "the text is too long"),
    (None, "permanent_error", "BusinessDeleted", "the entry does not exist any more"),
    (503, "max_retries_exceeded", "Unavailable", "service unavailable"),
    (500, "max_retries_exceeded", "ServerError", "internal error"),
    (None, "max_retries_exceeded", "ConnectionRefusedError", "connection refused"),
    (None, "max_retries_exceeded", "TimeoutError", "timed out"),
    (None, "worker_lost", "WorkerLost", "the lease of the worker session ended while the job ran"),
    (None, "expired", None, None),
    (502, "max_retries_exceeded", "BadGateway", "bad gateway"),
)

SEED = """
set synchronous_commit = off;
select * from postmill.register_job_types('[{"key": "embed", "max_attempts": 3}]');
select postmill.ensure_partitions(postmill.now() - interval '8 days');
create temp table causes (cause integer, status integer, reason text, class text, message text);
insert into causes select * from unnest(%(n)s::int[], %(statuses)s::int[], %(reasons)s::text[], %(classes)s::text[],
    %(messages)s::text[]);
create temp table seed as
select g as n, c.*, m.moment, (lpad(to_hex(g / 12 %% 3 + 1), 8, '0') || '-0000-0000-0000-000000000000')::uuid as tenant,
       (left(postmill.id_at(m.moment)::text, 14) || '7' || substr(md5(g::text), 1, 3) || '-8'
        || substr(md5(g::text), 4, 3) || '-' || substr(md5(g::text), 7, 12))::uuid as id
  from generate_series(1, %(many)s) g
  join causes c on c.cause = g %% 12
 cross join lateral (select postmill.now() - interval '1 minute'
        - (%(many)s + 1 - g) * (interval '7 days' / %(many)s) as moment) m;
insert into postmill.tenant (id, slug, name) select distinct s.tenant, 't' || s.tenant, 'one' from seed s on conflict do nothing;
insert into postmill.job (id, tenant_id, job_type, queue, payload, priority, max_attempts, created_at)
select id, tenant, 'embed', 'default', jsonb_build_object('n', n), 100, 3, moment from seed;
insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, error_class,
    error_message, error_status, stack, attempts, failed_at, last_attempt_at, job_type, error_group)
select id, tenant, 'default', tenant, 100, 3, 3, 0, reason, class, message, status, repeat('at line 1 of embed.py ' || n, 30),
       3, moment, moment, 'embed', left(md5(coalesce(class, '')), 16) from seed;
analyze postmill.job, postmill.dead_letter, postmill.dead_tally;
"""


def seed_letters(conn: Connection[Any], many: int) -> None:
    """`many` dead letters of CAUSES in turn, given up over the last week; error groups are by class."""
    columns = list(zip(*CAUSES, strict=True))
    values = {
        "n": list(range(12)),
        "statuses": list(columns[0]),
        "reasons": list(columns[1]),
        "classes": list(columns[2]),
        "messages": list(columns[3]),
        "many": many,
    }
    for statement in SEED.split(";\n"):
        if statement.strip():
            conn.execute(statement.encode(), values if "%" in statement else None)
