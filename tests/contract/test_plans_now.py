"""EXPLAIN guards of the first pages: beside many tenants, minutes and incidents they read what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from psycopg import Connection

from postmill.bind import drive
from postmill.local.server import LocalServer
from postmill.operate import now as model
from postmill.store.now import read_changes
from postmill.store.standing import read_attainment, read_last_missed, read_next_runs
from tests.support.databases import fresh_database
from tests.support.plans import Plans, traced

TYPES = 20
SIZES = [pytest.param(10, id="10"), pytest.param(200, id="200", marks=pytest.mark.long)]
"""Tenants."""

HISTORY = """
insert into postmill.tenant (id, slug, name) select gen_random_uuid(), 't' || g, 'Tenant' from generate_series(1, %(tenants)s) g;
insert into postmill.queue (name, sla_seconds) select 'q' || g, 60 from generate_series(0, 9) g on conflict do nothing;
insert into postmill.rollup (minute, tenant_id, queue, job_type, outcome, n, total_sum, total_hist)
select postmill.minute_of(postmill.now()) - m * interval '1 minute', t.id, 'q' || k %% 10, 'type' || k, o.o, o.n, 5, o.h
  from generate_series(0, 119) m, postmill.tenant t, generate_series(1, 20) k,
       (values ('enqueued', 5, null), ('succeeded', 1, postmill.histogram(1.0))) o(o, n, h);
insert into postmill.rollup_fleet (minute, queue, job_type, outcome, n, total_sum, total_hist)
select minute, queue, job_type, outcome, sum(n), sum(total_sum), (array_agg(total_hist::text))[1]::bigint[]
  from postmill.rollup group by 1, 2, 3, 4;
insert into postmill.rollup_fleet (minute, queue, job_type, outcome, n)
select postmill.minute_of(postmill.now()) - m * interval '1 minute', 'q' || k %% 10, 'type' || k, 'succeeded', 5
  from generate_series(120, 1440) m, generate_series(1, 20) k;
insert into postmill.error_group (id, job_type, error_class, message, frame, first_seen_at, last_seen_at, count)
select lpad(to_hex(g), 16, '0'), 'type1', 'E', 'm', '', postmill.now() - g * interval '1 minute', postmill.now(), 1
  from generate_series(1, 4000) g;
insert into postmill.audit_log (id, at, actor_type, via, action, result, db_role)
select postmill.new_id(), postmill.now() - g * interval '1 second', 'user', 'api', 'jobs.cancel', 'done', 'x'
  from generate_series(1, 10000) g;
insert into postmill.incident (kind, key, severity, title, queue, opened_at, last_at, cycle_at, resolved_at)
select 'sla_breach', 'q' || g %% 10 || case when g <= 5 then '' else ':' || g end, 'warning', 'late', 'q' || g %% 10, m.at,
       m.at, m.at, case when g > 5 then m.at end
  from generate_series(1, 1200) g, (select postmill.now() as at) m;
insert into postmill.job_definition (key, queue) values ('plain', 'q1') on conflict do nothing;
insert into postmill.trigger (tenant_id, label, trigger_type, cron_expr, timezone, definition_id, next_run_at)
select t.id, 'l' || g, 'schedule', '0 3 * * *', 'UTC', d.id, postmill.now() + g * interval '1 minute'
  from postmill.job_definition d, generate_series(1, 300) g, (select id from postmill.tenant limit 10) t where d.key = 'plain';
insert into postmill.tick (trigger_id, due, tenant_id, outcome, detail, fired_at)
select t.id, postmill.now() - g * interval '1 hour', t.tenant_id, case when g > 3 then 'skipped' else 'enqueued' end, 'missed: x',
       postmill.now() - g * interval '1 hour'
  from (select * from postmill.trigger order by tenant_id limit 300) t, generate_series(1, 20) g;
analyze postmill.rollup, postmill.rollup_fleet, postmill.error_group, postmill.audit_log, postmill.incident, postmill.trigger,
    postmill.tick
"""


@pytest.fixture(scope="module", params=SIZES)
def big(request: pytest.FixtureRequest, cluster: LocalServer, template: str) -> Iterator[Connection[Any]]:
    with fresh_database(cluster, template) as database, database.connect() as conn:
        for statement in HISTORY.split(";\n"):
            conn.execute((statement % {"tenants": request.param}).encode())
        yield conn


def looked(conn: Connection[Any], look: Callable[[], Any], *allowed: str) -> tuple[Any, Plans]:
    """What was found, and how; no table with many rows was read from end to end."""
    with traced(conn) as plans:
        found = look()
    read = {name: n for name, n in plans.sequential().items() if n > 1000 and name not in allowed}
    assert read == {}, plans
    return found, plans


def test_now_reads_what_it_shows(big: Connection[Any]) -> None:
    found, plans = looked(big, lambda: drive(big, model.now()))
    assert (len(found.incidents), found.situation.breaches, found.situation.new_errors) == (5, 5, 59)
    assert all(scene.rate and scene.rate_before == 0 for scene in found.scenes.values())
    assert plans.rows("incident") <= 60
    assert plans.rows("error_group") <= 2 * 61  # counted, and the latest of them named
    assert plans.rows("rollup") == 0
    assert plans.buffers < 4000, plans


def test_the_last_hour_is_read_without_its_tenants(big: Connection[Any]) -> None:
    found, plans = looked(big, lambda: drive(big, model.minutes()))
    assert len(found) in (60, 61)
    assert plans.rows("rollup") == 0
    assert plans.rows("rollup_fleet") <= 61 * 2 * TYPES
    found, plans = looked(big, lambda: drive(big, model.minutes(queue="q1")))
    assert plans.rows("rollup_fleet") <= 61 * 4


def test_changes_are_found_in_a_busy_log(big: Connection[Any]) -> None:
    _, plans = looked(big, lambda: drive(big, _one(read_changes(7200, 50))))
    assert plans.rows("audit_log") <= 2000


def test_a_tenants_page_reads_its_own(big: Connection[Any]) -> None:
    with big.transaction():
        big.execute(
            "select set_config('postmill.tenant_id', (select min(tenant_id::text) from postmill.trigger), true)"
        )
        attained, plans = looked(big, lambda: drive(big, _one(read_attainment(3600))))
        assert (len(attained), attained[0].attained) == (TYPES, 1.0)
        assert 0 < plans.rows("rollup") <= 61 * 2 * TYPES
        runs, plans = looked(big, lambda: drive(big, _one(read_next_runs(5))))
        assert len(runs) == 5
        assert plans.rows("trigger") <= 50
        missed, plans = looked(big, lambda: drive(big, _one(read_last_missed())))
        assert missed is not None
        assert plans.rows("tick") <= 5, str(plans)


def _one(statement: Any) -> Any:
    return (yield statement)
