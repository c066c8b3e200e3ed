"""EXPLAIN guards of the pages of triggers, definitions, budgets and audit: none reads a long table whole, in either scope."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from postmill.bind import run
from postmill.local.server import LocalServer
from postmill.store.audit import LogFilter, audit_log, chain_status, read_links
from postmill.store.budget_requests import read_burn, read_requests, read_waiting
from postmill.store.definition_figures import read_costs, read_homes, read_latency
from postmill.store.trigger_runs import read_runs, read_standing, ticks_within
from tests.support.databases import fresh_database
from tests.support.plans import Plans, traced

SIZES = [pytest.param(6_000, id="6k"), pytest.param(1_000_000, id="million", marks=pytest.mark.long)]

SEED = """
create table public.n as select %(n)s::integer as n;
select * from postmill.register_job_types('[{"key": "t", "budget": "llm"}]');
insert into postmill.tenant (id, slug, name) select lpad(to_hex(g), 32, '0')::uuid, 'x' || g, 'x' from generate_series(16, 25) g;
insert into postmill.audit_log (id, at, tenant_id, actor_type, actor_id, via, action, target_kind, target, result, db_role)
select postmill.new_id(), postmill.now() - g * interval '1 second', lpad(to_hex(16 + g %% 10), 32, '0')::uuid, 'user',
       'actor' || g %% 500, 'console', 'act' || g %% 50, 'queue', 'target' || g %% 5000,
       case when g %% 1000 = 0 then 'denied' else 'done' end, 'x' from n, generate_series(1, n.n) g;
insert into postmill.audit_chain (n, audit_id, hash)
select row_number() over (order by l.at, l.id), l.id, decode(repeat('ab', 32), 'hex') from postmill.audit_log l;
insert into postmill.trigger (id, tenant_id, label, trigger_type, cron_expr, timezone, definition_id)
select gen_random_uuid(), lpad(to_hex(16 + g %% 10), 32, '0')::uuid, 't' || g, 'schedule', '* * * * *', 'UTC', d.id
  from generate_series(1, 2000) g, postmill.job_definition d where d.key = 't';
insert into postmill.tick (trigger_id, due, tenant_id, outcome, detail, fired_at, job_id)
select t.id, postmill.now() - g * interval '1 minute', t.tenant_id, 'enqueued', null, postmill.now(), gen_random_uuid()
  from n, (select x.* from postmill.trigger x order by x.id limit 200) t, generate_series(1, n.n / 200) g;
insert into postmill.budget (id, name, tenant_id, limit_amount)
select lpad(to_hex(g), 32, 'b')::uuid, 'llm', lpad(to_hex(16 + g), 32, '0')::uuid, 100 from generate_series(0, 9) g;
insert into postmill.budget_period (budget_id, starts_at, ends_at, tenant_id, label, limit_amount)
select b.id, w.starts_at, w.ends_at, b.tenant_id, w.label, 100
  from postmill.budget b, postmill.read_budget_window('month', 'UTC', postmill.now()) w;
insert into postmill.budget_line (id, budget_id, starts_at, at, kind, amount, tenant_id, reservation_id, job_id, attempt,
       job_type, actor_type)
select postmill.new_id(), lpad(to_hex(g %% 10), 32, 'b')::uuid, w.starts_at, postmill.now(), 'spend', 0.01,
       lpad(to_hex(16 + g %% 10), 32, '0')::uuid, gen_random_uuid(), gen_random_uuid(), 1, 'type' || g %% 20, 'user'
  from n, generate_series(1, n.n) g, postmill.read_budget_window('month', 'UTC', postmill.now()) w;
insert into postmill.budget_request (tenant_id, budget_id, limit_amount, reason, actor_type, status)
select lpad(to_hex(16 + g %% 10), 32, '0')::uuid, lpad(to_hex(g %% 10), 32, 'b')::uuid, 1, 'r', 'user', 'declined'
  from generate_series(1, 2000) g;
insert into postmill.rollup (minute, tenant_id, queue, job_type, outcome, n, run_hist)
select postmill.minute_of(postmill.now()) - g / 10 * interval '1 minute', lpad(to_hex(16 + g %% 10), 32, '0')::uuid, 'default',
       'type' || g %% 20, 'succeeded', 1, h.one from n, generate_series(1, n.n) g, (select postmill.histogram(1.0) as one) h;
analyze postmill.audit_log, postmill.audit_chain, postmill.tick, postmill.trigger, postmill.budget_line, postmill.budget_request,
        postmill.rollup, postmill.budget
"""
TENANT = UUID(int=16)


@pytest.fixture(scope="module", params=SIZES)
def big(request: pytest.FixtureRequest, cluster: LocalServer, template: str) -> Iterator[Connection[Any]]:
    with fresh_database(cluster, template) as database, database.connect() as conn:
        conn.execute("set session_replication_role = replica")
        for statement in (SEED % {"n": request.param}).split(";\n"):
            conn.execute(statement.encode())
        conn.execute("reset session_replication_role")
        yield conn


@contextmanager
def seen(conn: Connection[Any], tenant: UUID | None) -> Iterator[Plans]:
    """The plans of what a page of this scope reads: as the request role, under its policies."""
    with traced(conn) as plans, conn.transaction():
        conn.execute(
            "select postmill.begin_request(%s, %s, 'console', 'user', 'ada', 'auditor', 'r')",
            [tenant, tenant is None],
        )
        yield plans


FILTERS = [
    LogFilter(),
    LogFilter(action="act7"),
    LogFilter(actor="actor7"),
    LogFilter(target_kind="queue", target="target7"),
    LogFilter(result="denied"),
    LogFilter(since=datetime(2020, 1, 1, tzinfo=UTC), via="console"),
    LogFilter(action="act7", actor="actor7", tenant=UUID(int=17)),
]


@pytest.mark.parametrize("tenant", [None, TENANT], ids=["ops", "tenant"])
def test_pages(big: Connection[Any], tenant: UUID | None) -> None:
    for chosen in FILTERS:
        with seen(big, tenant) as plans:
            found = run(big, audit_log(chosen=chosen, most=51))
        assert len(found) <= 51
        assert plans.sequential().get("audit_log", 0) == 0, (chosen, plans)
        how = [(node["Node Type"], node.get("Index Name")) for node in plans.scans("audit_log")]
        assert plans.buffers < 3000, (chosen, plans.buffers, how)
    ids = [row[0] for row in big.execute("select id from postmill.trigger order by id limit 25").fetchall()]
    now = datetime.now(UTC)
    budget = UUID("b" * 31 + "0")
    reads = {
        "runs": read_runs(ids, 20),
        "standing": read_standing(ids),
        "within": ticks_within(ids[0], now - timedelta(hours=1), now, 5000),
        "costs": read_costs([f"type{n}" for n in range(20)]),
        "homes": read_homes(["t"]),
        "requests": read_requests(most=50),
        "one budget's": read_requests(budget=budget, most=10),
        "waiting": read_waiting(budget),
        "latency": read_latency("type3", now - timedelta(hours=1)),
        "chain": chain_status(),
        "links": read_links(100, 201),
    }
    for name, statement in reads.items():
        with seen(big, tenant) as plans:
            run(big, statement)
        read = {table: n for table, n in plans.sequential().items() if n > 1000}
        assert read == {}, (name, plans)
        assert plans.buffers < 12_000, (name, plans.buffers)
    with seen(big, tenant) as plans:
        found = run(big, read_burn(budget, None, 86400.0))
    assert len(found) == 1
    assert plans.sequential().get("budget_line", 0) == 0, plans
