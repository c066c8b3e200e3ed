"""EXPLAIN guards of workflows, beside many of them: what moves one on reads that one, and a list its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from postmill import NewJob, Workflow, start_workflow
from postmill.local.server import LocalServer
from tests.support.databases import fresh_database
from tests.support.plans import traced
from tests.support.sessions import WorkerSession, complete, shifted

pytestmark = pytest.mark.matrix

SIZES = [
    pytest.param(20_000, id="20k"),
    pytest.param(1_000_000, id="million", marks=pytest.mark.long),
]

SEED = """
insert into postmill.workflow (id, tenant_id, kind, name, created_at, sealed, fail_fast, actor_type, looked_at, total, status,
       finished_at)
select postmill.id_at('2026-01-01'::timestamptz + n * interval '1 second'), '00000000-0000-0000-0000-000000000001', 'workflow',
       'w' || n % 50, now(), true, false, 'system', now(), 10, case when n % 10 = 0 then 'running' else 'succeeded' end,
       case when n % 10 <> 0 then now() end
  from generate_series(1, %(n)s / 10) n;
update postmill.workflow set total = 10000, name = 'long'
 where id = (select id from postmill.workflow where status = 'running' order by id limit 1);
insert into postmill.workflow_step (workflow_id, no, tenant_id, name, job_type, job_id, state, waits)
select w.id, n, w.tenant_id, 's' || n, 'work', postmill.new_id(),
       case when w.status = 'succeeded' then 'succeeded' when n = 1 then 'open' else 'waiting' end, least(n - 1, 1)
  from postmill.workflow w cross join lateral generate_series(1, w.total) n;
insert into postmill.workflow_edge (workflow_id, parent, child, tenant_id, policy)
select w.id, n - 1, n, w.tenant_id, 'cancel' from postmill.workflow w cross join lateral generate_series(2, w.total) n;
insert into postmill.workflow_inbox (workflow_id, job_id, state)
select s.workflow_id, s.job_id, 'succeeded' from postmill.workflow_step s where s.state = 'open' and s.no = 1;
"""


@pytest.fixture(scope="module", params=SIZES)
def many(request: pytest.FixtureRequest, cluster: LocalServer, template: str) -> Iterator[Connection[Any]]:
    with fresh_database(cluster, template) as database, database.connect() as conn:
        conn.execute("set statement_timeout = 0")
        conn.execute(SEED.replace("%(n)s", str(request.param)).encode())
        conn.execute("analyze")
        yield conn


def test_moving_on_and_reading_touch_one_workflow(many: Connection[Any]) -> None:
    ids = [
        UUID(str(row[0])) for row in many.execute("select * from postmill.stirred_workflows(10)").fetchall()
    ]
    job = many.execute(
        "select job_id from postmill.workflow_step where workflow_id = %s and no = 1", [ids[5]]
    ).fetchone()
    assert job is not None
    row = many.execute("select id from postmill.workflow where name = 'long'").fetchone()
    assert row is not None
    long = row[0]
    ids = [id for id in ids if id != long]
    acts = {
        "advance a long one": (lambda: many.execute("select postmill.advance_workflow(%s)", [long]), 60),
        "stirred": (lambda: many.execute("select * from postmill.stirred_workflows(10)"), 60),
        "advance": (lambda: many.execute("select postmill.advance_workflow(%s)", [ids[0]]), 30),
        "doom": (lambda: many.execute("select postmill.doom_steps(%s, array[1])", [ids[1]]), 40),
        "recount": (lambda: many.execute("select postmill.recount_steps(%s)", [ids[2]]), 60),
        "context": (lambda: many.execute("select postmill.step_context(%s, %s)", [ids[5], job[0]]), 20),
        "list": (lambda: many.execute("select * from postmill.read_workflows(50)"), 700),
        "one": (lambda: many.execute("select * from postmill.read_workflow(%s)", [ids[3]]), 60),
        "steps": (lambda: many.execute("select * from postmill.read_workflow_steps(%s)", [ids[3]]), 60),
        "edges": (lambda: many.execute("select * from postmill.read_workflow_edges(%s)", [ids[3]]), 60),
        "of": (lambda: many.execute("select * from postmill.read_step_of(%s)", [job[0]]), 60),
        "look": (lambda: many.execute("select postmill.look_after_workflows('-1 hour', 100)"), 2000),
        "prune": (lambda: many.execute("select postmill.prune_workflows(5000)"), 4500),
    }
    for name, (act, most) in acts.items():
        with shifted(many, "91 days" if name == "prune" else ""), traced(many) as plans:
            act()
        for table in ("workflow", "workflow_step", "workflow_edge", "workflow_inbox"):
            assert plans.rows(table) <= most, (name, table, plans.rows(table))


def test_a_wide_one_costs_what_its_steps_cost(many: Connection[Any], pg: Connection[Any]) -> None:
    """Beside many others, and in a database that knows nothing of itself yet: no join runs over all live steps for each."""
    wide = 1000
    for conn in (many, pg):
        conn.execute(
            "insert into postmill.queue (name) values ('default') on conflict do nothing;"
            " insert into postmill.job_definition (key, queue, max_attempts) values ('work', 'default', 3)"
        )
        flow = Workflow("wide")
        flow.add("root", NewJob.of("work"))
        names = [flow.add(f"s{n}", NewJob.of("work"), after="root") for n in range(wide)]
        flow.add("end", NewJob.of("work"), after=names)
        for n in range(wide):
            flow.add(f"t{n}", NewJob.of("work"), after="end")
        session = WorkerSession(conn, lease=3600.0)
        with traced(conn) as plans:
            id = start_workflow(conn, flow).id
        assert plans.work <= 400 * wide, plans.work
        complete(conn, session.claim(1))
        with traced(conn) as plans:
            conn.execute("select postmill.advance_workflow(%s)", [id])
        assert plans.work <= 60 * wide, plans.work
        for _ in range(2):
            complete(conn, session.claim(100))
            with traced(conn) as plans:
                conn.execute("select postmill.advance_workflow(%s)", [id])
            assert (plans.work <= 20_000, plans.rows("workflow_step") <= 500) == (True, True), str(plans)
        with traced(conn) as plans:
            conn.execute("select postmill.recount_steps(%s)", [id])
        assert plans.work <= 20 * wide, plans.work
        end = conn.execute(
            "select job_id from postmill.workflow_step where workflow_id = %s and name = 'end'", [id]
        ).fetchone()
        assert end is not None
        with traced(conn) as plans:
            conn.execute("select postmill.step_context(%s, %s)", [id, end[0]])
        assert plans.work <= 20 * wide, str(plans)
        with traced(conn) as plans:
            conn.execute("select * from postmill.read_step_of(%s)", [end[0]])
        assert plans.rows("workflow_step") <= wide + 10, str(plans)
