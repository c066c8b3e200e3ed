"""EXPLAIN guards on many failures: the pages of errors and dead letters read groups, minutes and samples, never all failures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import Connection

from postmill.local.server import LocalServer
from tests.contract.test_plans_dead import SCOPES, trace
from tests.support.databases import fresh_database
from tests.support.letters import seed_letters
from tests.support.plans import Plans

SIZES = [pytest.param(6_000, id="6k"), pytest.param(1_000_000, id="1m", marks=pytest.mark.long)]

# Letters are a tenth of the jobs, failed attempts a fifth; the rest succeeded. Groups as the letters have them.
REST = """
insert into postmill.worker (holder, worker_id, hostname, pid, started_at, last_seen_at)
select md5('h' || g)::uuid, 'w' || g, 'host' || g %% 3, 1, now(), now() from generate_series(1, 20) g;
insert into postmill.job (id, tenant_id, job_type, queue, payload, priority, max_attempts, created_at)
select (left(postmill.id_at(m.moment)::text, 14) || '7' || substr(md5('r' || g), 1, 3) || '-8' || substr(md5('r' || g), 4, 3)
        || '-' || substr(md5('r' || g), 7, 12))::uuid, (lpad(to_hex(g %% 3 + 1), 8, '0') || '-0000-0000-0000-000000000000')::uuid,
       'embed', 'default', jsonb_build_object('n', g), 100, 3, m.moment
  from generate_series(1, %(rest)s) g
 cross join lateral (select postmill.now() - interval '1 minute' - g * (interval '7 days' / %(rest)s) as moment) m;
insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, attempt_status, holder)
select j.id, j.tenant_id, 'succeeded', j.created_at, 1, 1, 0, 'succeeded', md5('h' || (random() * 20)::integer)::uuid
  from postmill.job j where not exists (select from postmill.dead_letter d where d.id = j.id);
insert into postmill.attempt (job_id, tenant_id, attempt, run, holder, claim_no, started_at, finished_at, status, error_class,
    error_message, error_group, stack)
select d.id, d.tenant_id, a, a, md5('h' || a)::uuid, 1, d.failed_at, d.failed_at, 'failed', d.error_class, d.error_message,
       d.error_group, d.stack from postmill.dead_letter d cross join generate_series(1, 2) a where d.error_class is not null;
insert into postmill.error_group (id, job_type, error_class, message, frame, first_seen_at, last_seen_at, count)
select d.error_group, 'embed', d.error_class, min(d.error_message), '', min(d.failed_at), max(d.failed_at), 2 * count(*)
  from postmill.dead_letter d where d.error_class is not null group by 1, 3;
insert into postmill.error_group_tenant (id, tenant_id, first_seen_at, last_seen_at, count, sample_job)
select d.error_group, d.tenant_id, min(d.failed_at), max(d.failed_at), 2 * count(*), (array_agg(d.id))[1]
  from postmill.dead_letter d where d.error_class is not null group by 1, 2;
insert into postmill.error_group_minute (id, tenant_id, minute, n, hourly)
select g.id, t.id, date_trunc('minute', postmill.now()) - m * interval '1 minute', 1, false
  from postmill.error_group g cross join (values ('00000000-0000-0000-0000-000000000000'::uuid),
       ('00000001-0000-0000-0000-000000000000')) t(id) cross join generate_series(1, 2880) m where %(rest)s > 100000 or m < 60;
analyze postmill.job, postmill.outcome, postmill.attempt, postmill.error_group, postmill.error_group_tenant,
    postmill.error_group_minute, postmill.worker;
"""


@pytest.fixture(scope="module", params=SIZES)
def many(request: pytest.FixtureRequest, cluster: LocalServer, template: str) -> Iterator[Connection[Any]]:
    with fresh_database(cluster, template) as database, database.connect() as conn:
        seed_letters(conn, request.param // 10)
        for one in (REST % {"rest": request.param - request.param // 10}).split(";\n"):
            conn.execute(one.encode())
        conn.execute("select postmill.fold_dead_tally(1)")
        conn.execute(
            "vacuum analyze postmill.dead_letter, postmill.dead_tally, postmill.attempt, postmill.outcome,"
            " postmill.error_group_minute"
        )
        yield conn


def group(conn: Connection[Any]) -> str:
    """A frequent one."""
    row = conn.execute("select id from postmill.error_group where error_class = 'QuotaExceeded'").fetchone()
    assert row is not None
    return str(row[0])


READS = {
    "groups": ("select * from postmill.read_error_groups(p_text => 'quota', p_statuses => '{new,ongoing,regressed}')", 120),
    "minutes": (
        ("select * from postmill.read_error_minutes((select array_agg(id) from postmill.error_group),"
        " postmill.now() - interval '1 day', postmill.now(), 1800)"), 32_000),
    "jobs": ("select * from postmill.read_error_jobs((select array_agg(id) from postmill.error_group), 1000)", 44_000),
    "samples": ("select * from postmill.read_error_samples(%s, 'embed')", 16_000),
    "first": ("select postmill.read_error_first(%s)", 20),
    "stacks": ("select * from postmill.read_error_stacks(%s, array[postmill.read_error_first(%s)])", 40),
    "dead": ("select * from postmill.read_dead_groups(p_most => 51)", 110_000),
    "dead of a group": ("select * from postmill.read_error_dead(%s)", 12_000),
    "pauses": ("select * from postmill.read_type_pauses() union all select 'x', null, null, null, null, null, null", 5),
    "marks": (
        "select * from postmill.read_type_marks('embed', postmill.now() - interval '30 days')", 200),
}  # fmt: skip
"""What the pages ask, with the rows that it may look at in all tables together, however many failures there are."""


# Marks of versions are the platform's to see.
@pytest.mark.parametrize(
    ("name", "scope"), [(n, s) for n in READS for s in SCOPES if (n, s) != ("marks", "tenant")]
)
def test_a_page_reads_what_it_shows(many: Connection[Any], name: str, scope: str) -> None:
    text, most = READS[name]
    id = group(many)
    text = text.replace("%s", f"'{id}'").replace(
        "(select array_agg(id) from postmill.error_group)",
        "array['" + "','".join(row[0] for row in many.execute("select id from postmill.error_group")) + "']",
    )
    plans = trace(many, text, begin=SCOPES[scope])
    big = {
        table: n
        for table, n in plans.sequential().items()
        if table.startswith(("job", "outcome", "attempt", "dead_letter", "error_group_minute")) and n > 1000
    }
    assert not big, f"{big}\n{plans}"
    looked = looked_at(plans)
    assert looked <= most, f"{looked}\n{plans}"


def looked_at(plans: Plans) -> int:
    tables = ("job", "job_kept", "outcome", "attempt", "dead_letter", "dead_tally", "error_group", "error_group_tenant",
              "error_group_minute", "type_pause", "definition_version")  # fmt: skip
    return sum(plans.rows(table) for table in tables)


def test_a_round_that_brings_back_what_was_held_reads_what_was_held(many: Connection[Any]) -> None:
    """A probe where nothing was; and where something was, its tickets by their moment."""
    plans = trace(many, "select postmill.release_held(20000)")
    assert plans.rows("scheduled") == 0
    many.execute(
        "insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)"
        " select 'default', gen_random_uuid(), postmill.now() + interval '1 day' + g * interval '1 second', gen_random_uuid(),"
        " 100, 1, 0, 0 from generate_series(1, 3000) g"
    )
    many.execute("analyze postmill.scheduled")
    many.execute(
        "insert into postmill.type_pause (job_type, paused_at, held_until, ended_at) values ('embed', postmill.now(),"
        " postmill.now() + interval '100 years', postmill.now())"
    )
    plans = trace(many, "select postmill.release_held(20000)")
    assert "scheduled" not in plans.sequential(), plans
    assert plans.rows("scheduled") <= 2
