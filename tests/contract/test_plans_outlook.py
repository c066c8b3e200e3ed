"""EXPLAIN guards of what the on-call reads: why a job does not run, and what goes on, beside many jobs and much history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import Connection, Rollback

from postmill.bind import drive
from postmill.local.server import LocalServer
from postmill.operate.top import top
from postmill.operate.why import why
from tests.contract.million import seed
from tests.support.databases import fresh_database
from tests.support.plans import traced

SIZES = [pytest.param(42_000, id="42k"), pytest.param(1_000_000, id="million", marks=pytest.mark.long)]

HISTORY = """
insert into postmill.rollup (minute, tenant_id, queue, job_type, outcome, n, total_hist)
select postmill.minute_of(postmill.now()) - g / 100 * interval '1 minute', gen_random_uuid(), 'default', 'plain', 'succeeded', 1,
       h.one
  from generate_series(1, 4000) g, (select postmill.histogram(1.0) as one) h;
insert into postmill.rollup_fleet (minute, queue, job_type, outcome, n, total_hist)
select minute, queue, job_type, outcome, sum(n), postmill.histogram_sum(total_hist) from postmill.rollup group by 1, 2, 3, 4;
insert into postmill.error_group (id, job_type, error_class, message, frame, first_seen_at, last_seen_at, count)
select lpad(to_hex(g), 16, '0'), 'plain', 'E', 'm', '', postmill.now(), postmill.now() - g * interval '1 second', 1
  from generate_series(1, 4000) g;
select postmill.raise_incident('sla_breach', g::text, 'warning', 'late', '{}') from generate_series(1, 1200) g;
select postmill.resolve_incident('sla_breach', g::text) from generate_series(6, 1200) g;
analyze postmill.rollup, postmill.rollup_fleet, postmill.error_group, postmill.incident
"""


@pytest.fixture(scope="module", params=SIZES)
def big(request: pytest.FixtureRequest, cluster: LocalServer, template: str) -> Iterator[Connection[Any]]:
    with fresh_database(cluster, template) as database, database.connect() as conn:
        seed(conn, request.param)
        for statement in HISTORY.split(";"):
            conn.execute(statement.encode())
        yield conn


def test_a_look_at_what_goes_on(big: Connection[Any]) -> None:
    with traced(big) as plans:
        found = drive(big, top())
    assert (found.queues[0].queued, len(found.failures), len(found.incidents)) == (10_000, 10, 5)
    assert found.queues[0].ended_per_minute > 0
    read = {name: n for name, n in plans.sequential().items() if n > 1000}
    assert read == {}, plans
    assert plans.rows("rollup") == 0
    assert 0 < plans.rows("rollup_fleet") <= 41  # a page of it
    assert plans.rows("error_group") <= 20
    assert plans.rows("incident") <= 20
    assert plans.buffers < 5000, plans


def test_why_a_job_does_not_run(big: Connection[Any]) -> None:
    row = big.execute("select id from postmill.ready order by ready_at desc limit 1").fetchone()
    assert row is not None
    with big.transaction():
        big.execute("update postmill.job_definition set worker_limit = 1")
        with traced(big) as plans:
            found = drive(big, why(row[0]))
        raise Rollback
    assert [reason.code for reason in found.reasons] == ["no_worker_for_queue", "position"]
    assert {name: n for name, n in plans.sequential().items() if n > 1000} == {}, plans
    assert plans.rows("job") <= 10
    assert plans.buffers < 6000, plans  # the way to its place in a lane is walked up to 10,000 tickets
