"""EXPLAIN guards of the console's pages of queues, workers and tenants, beside many jobs, tenants and much history."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from postmill.bind import drive, run
from postmill.local.server import LocalServer
from postmill.operate import fleet, workers
from postmill.store import fleet as store
from postmill.store.boost import read_queue_boost
from postmill.store.definition_figures import read_callers
from postmill.store.now import read_hurt
from postmill.store.waits import read_waits
from postmill.store.workers import ended_jobs, held_jobs
from tests.contract.million import seed
from tests.support.databases import fresh_database
from tests.support.plans import Plans, traced
from tests.support.sessions import WorkerSession

SIZES = [pytest.param(12_000, id="12k"), pytest.param(1_000_000, id="million", marks=pytest.mark.long)]
SEEDER = UUID("2510c390-11c5-be70-4182-423e3a695e91")  # md5('h'): who ended the seeded jobs
HOG = UUID("00000001-0000-0000-0000-000000000000")

HISTORY = """
insert into postmill.rollup (minute, tenant_id, queue, job_type, outcome, n, run_sum, total_hist)
select postmill.minute_of((select postmill.now())) - m * interval '1 minute',
       (lpad(to_hex(t), 8, '0') || '-0000-0000-0000-000000000000')::uuid, 'default', 'plain', 'succeeded', 1, 1, h.one
  from generate_series(0, 599) m, generate_series(1, 20) t, (select postmill.histogram(1.0) as one) h;
insert into postmill.rollup_fleet (minute, queue, job_type, outcome, n, run_sum, total_hist)
select postmill.minute_of((select postmill.now())) - m * interval '1 minute', 'default', 'plain', 'succeeded', 20, 20, h.one
  from generate_series(0, 2999) m, (select postmill.histogram(1.0) as one) h;
insert into postmill.rollup_hour (hour, tenant_id, queue, job_type, outcome, n, run_sum, total_hist)
select date_bin('1 hour', postmill.now(), timestamptz '2000-01-01 00:00+00') - m * interval '1 hour',
       (lpad(to_hex(t), 8, '0') || '-0000-0000-0000-000000000000')::uuid, 'default', 'plain', 'succeeded', 1, 1, h.one
  from generate_series(0, 4) m, generate_series(1, 3000) t, (select postmill.histogram(1.0) as one) h;
insert into postmill.queue (name, sla_seconds) select 'q' || g, 60 from generate_series(1, 19) g;
update postmill.queue set sla_seconds = 60 where name = 'default';
insert into postmill.queue_minute (queue, minute, arrived, ended, wait_hist, queued)
select q.name, postmill.minute_of((select postmill.now())) - m * interval '1 minute', 5, 5, h.one, 5
  from postmill.queue q, generate_series(0, 999) m, (select postmill.histogram(1.0) as one) h;
insert into postmill.tenant (id, slug, name)
select (lpad(to_hex(t), 8, '0') || '-0000-0000-0000-000000000000')::uuid, 't' || t, 't' || t from generate_series(1, 3000) t;
insert into postmill.audit_log (id, at, actor_type, via, action, target_kind, target, result, db_role)
select postmill.new_id(), postmill.now(), 'user', 'cli', 'queues.pause', case g % 4 when 0 then 'queue' else 'job' end,
       'q' || g % 400, 'done', 'x' from generate_series(1, 6000) g;
insert into postmill.worker (holder, worker_id, hostname, pid, queues, slots, started_at, last_seen_at, stopped_at)
select gen_random_uuid(), 'w' || g, 'h', 1, '{default}', '{"default": 4}', postmill.now() - g * interval '1 hour',
       postmill.now() - g * interval '1 hour', postmill.now() - g * interval '1 hour' from generate_series(3, 500) g;
analyze postmill.rollup, postmill.rollup_fleet, postmill.rollup_hour,
    postmill.queue_minute, postmill.tenant, postmill.audit_log, postmill.worker
"""

# Limits on all of them, each tenant for itself, some thousand jobs that hold seats, and many that are bound to two versions.
LIMITS = """
select postmill.door_set_limit('queue', 'default', '{tenant}', 5, null);
select postmill.door_set_limit('all', null, '{}', 2000, null);
insert into postmill.seat (key, seat_no, limit_id, job_id)
select l.key, g, l.id, gen_random_uuid() from postmill.limit_rule l, generate_series(1, 3000) g where l.name = 'all';
insert into postmill.pin (job_id, tenant_id, job_type, version, lane)
select gen_random_uuid(), gen_random_uuid(), 'plain', g % 2 + 1,
       (postmill.version_half('plain', g % 2 + 1) || '0000000000000000')::uuid
  from generate_series(1, 20000) g;
insert into postmill.boost (job_id, tenant_id, queue, lane, from_priority, priority, ready_at, raised_at)
select gen_random_uuid(), gen_random_uuid(), 'other', gen_random_uuid(), 100, 50, now(), now() from generate_series(1, 5000);
update postmill.queue set boost_after_seconds = 60, boost_step = 10, boost_to = 0 where name = 'default';
analyze postmill.seat, postmill.pin, postmill.boost
"""
REFUSED = """
    insert into postmill.refused_type
    select 'plain', (left(md5('refused:plain'), 16) || '0000000000000000')::uuid, 'w', '-infinity';
    select postmill.sweep_refused_types()"""
LIMITED = "select id from postmill.ready where queue = 'default' order by id desc limit 50"


@pytest.fixture(scope="module", params=SIZES)
def big(request: pytest.FixtureRequest, cluster: LocalServer, template: str) -> Iterator[Connection[Any]]:
    with fresh_database(cluster, template) as database, database.connect() as conn:
        seed(conn, request.param)
        for statement in (HISTORY + ";" + LIMITS).split(";"):
            conn.execute(statement.encode())
        yield conn


def test_every_read_is_bounded(big: Connection[Any]) -> None:
    """No table with many rows is read from end to end, and none is touched much."""
    holder = WorkerSession(big).holder
    now = datetime.now(UTC)
    slugs = [f"t{n}" for n in range(50, 100)]
    ids = [row[0] for row in big.execute("select id from postmill.tenant order by slug limit 50").fetchall()]

    waiting = [row[0] for row in big.execute(LIMITED).fetchall()]

    def do(what: Any) -> Callable[[], Any]:
        return lambda: drive(big, what()) if not hasattr(what, "sql") else run(big, what)

    looks: dict[str, tuple[Callable[[], Any], int]] = {
        "queues": (do(fleet.queue_cards), 6000),
        "one queue": (do(lambda: fleet.queue_cards("default")), 3000),
        "course": (do(store.queue_course("default", 86400.0, 900.0)), 1500),
        "tenants of a queue": (do(store.queue_tenants("default")), 1500),
        "limits": (do(store.queue_limits("default")), 500),
        "log": (do(store.object_log("queue", "q4")), 500),
        "workers": (do(lambda: fleet.worker_cards(now)), 1500),
        "a worker": (do(lambda: workers.worker(holder)), 500),
        "held": (do(held_jobs(holder)), 500),
        "ended": (do(ended_jobs(SEEDER)), 2000),
        "a page of tenants": (do(store.tenant_page(after="t1")), 1500),
        "these tenants": (do(store.tenant_page(slugs=slugs)), 1500),
        "what tenants did": (do(store.tenant_standing(ids)), 1500),
        "who makes jobs of a type": (do(read_callers("plain")), 500),
        "budgets": (do(store.budget_shares(ids)), 500),
        "above": (do(store.above()), 500),
        "what holds a page of jobs back": (do(read_waits(waiting)), 3000),
        "how a queue's jobs rise": (do(read_queue_boost("default")), 500),
        "whom incidents hurt": (do(read_hurt()), 500),
        "versions with jobs of their own": (
            lambda: big.execute("select * from postmill.pinned_lanes()").fetchall(),
            200,
        ),
        "types that were put back": (lambda: big.execute(REFUSED), 500),
    }
    for name, (look, most) in looks.items():
        look()  # the first time the catalog is read, too
        with traced(big) as plans:
            look()
        read = {table: n for table, n in plans.sequential().items() if n > 1000}
        assert read == {}, f"{name}\n{plans}"
        assert _buffers(plans) < most, f"{name}: {_buffers(plans)}\n{plans}"


def test_a_tenant_is_told_above_its_pages_of_what_is_its_own(big: Connection[Any]) -> None:
    big.execute("update postmill.queue set paused_at = postmill.now() where name in ('default', 'q1')")
    with big.transaction(force_rollback=True):
        big.execute("select set_config('postmill.tenant_id', %s, true)", [str(HOG)])
        with traced(big) as plans:
            found = run(big, store.above())
    assert found.paused == ["default"]
    assert {table: n for table, n in plans.sequential().items() if n > 1000} == {}, plans
    assert plans.buffers < 200, plans


def test_what_happened_in_queues_is_noted_from_the_last_minutes(big: Connection[Any]) -> None:
    with traced(big) as plans, big.transaction(force_rollback=True):
        big.execute("select postmill.note_queues()")
    assert {
        table: n for table, n in plans.sequential().items() if n > 1000 and table != "queue_minute"
    } == {}, plans
    assert plans.rows("rollup_fleet") < 50, plans


def _buffers(plans: Plans) -> int:
    """Pages that the dearest statement touched, what is within it included."""
    return max(int(root["Shared Hit Blocks"] + root["Shared Read Blocks"]) for root in plans.roots)
