"""What is raised by itself, and ends by itself: each once."""

from __future__ import annotations

import json
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

DEFAULT = "00000000-0000-0000-0000-000000000001"
OPEN = "select kind, key, title, count from postmill.incident where resolved_at is null order by kind, key"


def watch(pg: Connection[Any], offset: str = "0") -> dict[str, tuple[str, str]]:
    """A round: what is open then, by kind."""
    pg.execute("select set_config('postmill.clock_offset', %s, false)", [offset])
    pg.execute("select postmill.watch()")
    found = pg.execute(OPEN).fetchall()
    return {kind: (key, title) for kind, key, title, _ in found}


def ended(pg: Connection[Any], queue: str, seconds: float, n: int, how: str = "succeeded") -> None:
    """So many jobs of a queue that took so long, in this minute."""
    pg.execute(
        """insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n, wait_hist, run_hist, total_hist)
           select date_trunc('minute', postmill.now()), %s, %s, 't', %s, 1, postmill.histogram(0.1),
                  postmill.histogram(%s), postmill.histogram(%s) from generate_series(1, %s)""",
        [DEFAULT, queue, how, seconds, seconds, n],
    )


def test_late_queues(pg: Connection[Any]) -> None:
    queues = [
        {"name": "HIGH", "owner": "Ops", "contact": "pager", "sla_seconds": 30},
        {"name": "RUN", "sla_seconds": 600, "run_target_seconds": 20},
        {"name": "BULK", "owner": "Content"},
        {"name": "unsaid"},
    ]
    pg.execute("select postmill.register_queues(%s)", [Jsonb(queues)])
    for name in ("HIGH", "BULK"):
        ended(pg, name, 5, 96)
        ended(pg, name, 100, 4)
    assert watch(pg) == {}, "four in a hundred may be late"
    ended(pg, "HIGH", 100, 6)
    ended(pg, "RUN", 100, 9)
    found = pg.execute(OPEN.replace("order", "and kind = 'sla_breach' order")).fetchall()
    assert found == []
    pg.execute("select postmill.watch()")
    pg.execute("select postmill.watch()")
    (first, second) = pg.execute(OPEN).fetchall()
    assert (first[1], second[1], first[3]) == ("HIGH", "RUN", 1)
    assert first[2].startswith("queue HIGH is late: P95 of the total is ")
    assert "P95 of the run is" in second[2]
    facts = pg.execute("select facts from postmill.incident where key = 'HIGH'").fetchone()
    assert facts is not None
    assert (facts[0]["owner"], facts[0]["contact"], facts[0]["sla_seconds"]) == ("Ops", "pager", 30)
    affected = pg.execute(
        "select tenant_id::text, jobs from postmill.incident_part where jobs > 0"
    ).fetchall()
    assert (DEFAULT, 10) in affected
    row = pg.execute("select attained, burn, sla_seconds from postmill.read_queues('HIGH')").fetchone()
    assert row is not None
    assert 0.88 < row[0] < 0.92
    assert 1.8 < row[1] < 2.2
    assert watch(pg, "11 minutes") == {}, "over: nothing was late in the last ten"
    # Nothing ends, and what waits is late already.
    pg.execute("insert into postmill.job_definition (key, queue, max_attempts) values ('slow', 'HIGH', 3)")
    pg.execute("select postmill.enqueue('slow', '{}')")
    assert watch(pg, "11 minutes") == {}
    assert watch(pg, "13 minutes")["sla_breach"][1].startswith(
        "queue HIGH is late: the oldest job waits for "
    )
    # What a declaration says no more is none.
    pg.execute("select postmill.register_queues(%s)", [Jsonb([{"name": "HIGH"}])])
    assert watch(pg, "13 minutes") == {}
    names = [row[0] for row in pg.execute("select name from postmill.queue order by 1").fetchall()]
    assert "unsaid" not in names
    # What was given up was not done, however soon it was; a replay of it is a job of its own.
    pg.execute("select postmill.register_queues(%s)", [Jsonb([{"name": "CARE", "sla_seconds": 30}])])
    ended(pg, "CARE", 5, 8)
    ended(pg, "CARE", 5, 2, "dead_letter")
    key, title = watch(pg, "13 minutes")["sla_breach"]
    assert (key, title.partition(": ")[2]) == (
        "CARE",
        "80.0 % were done within the target of 30.0 s, the others late or given up",
    )
    pg.execute("select postmill.note_queues()")
    row = pg.execute(
        """select q.attained, a.attained_day, r.attained, r.p95 < 10, t.late, s.state
             from postmill.read_queues('CARE') q join postmill.attainment a on a.queue = q.name
             join postmill.read_attainment(postmill.now() - interval '1 hour', postmill.now()) r on r.queue = q.name
             join postmill.read_tenant_standing(array[%s::uuid], 60) t on true
             join postmill.read_queue_standing(array['CARE']) s on s.name = q.name""",
        [DEFAULT],
    ).fetchone()
    assert row == (0.8, 0.8, 0.8, True, 2, "no_workers")


def failed(pg: Connection[Any], group: str, n: int, *, ago: str = "0") -> None:
    """So many failures of a cause, of all tenants and of one."""
    pg.execute(
        """insert into postmill.error_group (id, job_type, error_class, message, frame, first_seen_at, last_seen_at, count)
           values (%s, 'send', 'TimeoutError', 'no answer', '', postmill.now(), postmill.now(), 1) on conflict do nothing""",
        [group],
    )
    pg.execute(
        """insert into postmill.error_group_minute as m (id, tenant_id, minute, n)
           select %s, u.id, date_trunc('minute', postmill.now() - %s::interval), %s
             from unnest(array['00000000-0000-0000-0000-000000000000', %s]::uuid[]) as u(id)
           on conflict (id, tenant_id, minute) do update set n = m.n + excluded.n""",
        [group, ago, n, DEFAULT],
    )


def test_failures_far_above_what_is_usual(pg: Connection[Any]) -> None:
    pg.execute("insert into postmill.queue (name) values ('q')")
    pg.execute("insert into postmill.job_definition (key, queue) values ('send', 'q')")
    failed(pg, "a" * 16, 49)
    failed(pg, "b" * 16, 60)
    failed(pg, "b" * 16, 143 * 13, ago="3 hours")
    assert watch(pg) == {}, (
        "too few of one, and of the other not five times its usual thirteen in ten minutes"
    )
    failed(pg, "a" * 16, 1)
    failed(pg, "b" * 16, 5)
    pg.execute("select postmill.watch()")
    found = {key: (title, count) for _, key, title, count in pg.execute(OPEN).fetchall()}
    title = "send fails 50 times in ten minutes: TimeoutError: no answer"
    assert found["a" * 16] == (title, 1)
    assert set(found) == {"a" * 16, "b" * 16}
    part = "select t.jobs from postmill.incident_part t join postmill.incident i on i.id = t.incident_id where i.key = %s"
    assert pg.execute(part, ["a" * 16]).fetchall() == [(50,)]
    # Half as many keep it, and what was given up of the same cause says more.
    pg.execute("update postmill.error_group_minute set n = 26 where id = %s", ["a" * 16])
    watch(pg)
    assert len(pg.execute(OPEN).fetchall()) == 2
    pg.execute(
        "select postmill.raise_incident('job_exhausted', 'k', 'warning', 't', %s)",
        [Jsonb({"group": "a" * 16})],
    )
    pg.execute(
        "update postmill.error_group set ignored_until = postmill.now() + interval '1 hour' where id = %s",
        ["b" * 16],
    )
    assert list(watch(pg)) == ["job_exhausted"]
    # Quiet again.
    pg.execute("update postmill.error_group set ignored_until = null")
    assert list(watch(pg, "11 minutes")) == ["job_exhausted"]


def test_workers_and_schedules(pg: Connection[Any]) -> None:
    open_session = (
        "select postmill.open_session(gen_random_uuid(), 30, %s, 'h', 1, '1', '{q}', '{}', '{}', '{}')"
    )
    pg.execute(open_session.encode(), ["w1"])
    pg.execute("insert into postmill.job_definition (key, queue) values ('nightly', 'q')")
    pg.execute("""insert into postmill.trigger (label, trigger_type, every, timezone, definition_id, next_run_at)
        select 'nightly', 'schedule', '1 day', 'UTC', d.id, postmill.now() from postmill.job_definition d""")
    assert watch(pg) == {}
    found = watch(pg, "3 minutes")
    assert found["stale_workers"] == ("fleet", "1 worker is silent and not replaced")
    assert found["missed_trigger"][1].startswith("schedule nightly is due since ")
    workers = pg.execute(
        "select facts -> 'workers' from postmill.incident where kind = 'stale_workers'"
    ).fetchone()
    assert workers is not None
    assert [worker["worker_id"] for worker in workers[0]] == ["w1"]
    # Somebody took its place, the schedule ran.
    pg.execute(open_session.encode(), ["w2"])
    pg.execute("update postmill.trigger set next_run_at = postmill.now() + interval '1 day'")
    assert watch(pg, "3 minutes") == {}
    pg.execute("select postmill.close_session(holder) from postmill.worker where worker_id = 'w2'")
    assert list(watch(pg, "4 minutes")) == ["stale_workers"], (
        "one that left in order is not missed, the other is again"
    )


def test_jobs_that_were_given_up(pg: Connection[Any]) -> None:
    """Of a hundred and twenty jobs two causes: two incidents, over when all their dead letters are."""
    pg.execute("insert into postmill.queue (name) values ('bulk')")
    pg.execute("insert into postmill.job_definition (key, queue) values ('send', 'bulk')")
    pg.execute("""select postmill.enqueue('send', '{}') from generate_series(1, 120)""")
    pg.execute("""with t as (delete from postmill.ready returning *)
        insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, error_class,
               error_message, attempts, failed_at)
        select id, lane, queue, lane, priority, 1, 1, 0, 'max_retries_exceeded',
               case when row_number() over (order by id) <= 110 then 'Timeout' else 'Refused' end, 'no luck', 5, postmill.now()
          from t""")
    pg.execute("select postmill.watch()")
    pg.execute("select postmill.watch()")
    rows = pg.execute("select key, count, jobs, title, facts from postmill.incident order by key").fetchall()
    assert [(key, count, jobs) for key, count, jobs, *_ in rows] == [
        ("send:Refused", 10, 10),
        ("send:Timeout", 110, 110),
    ]
    assert rows[0][3] == "send was given up: Refused: no luck"
    assert {"job_id", "reason", "attempts", "group"} <= rows[0][4].keys()
    discard = """select count(*) from postmill.door_discard_jobs(
        (select array_agg(d.id) from (select id from postmill.dead_letter where {}) d), 'x')"""
    pg.execute(discard.format("error_class = 'Refused'").encode())
    pg.execute(discard.format("error_class = 'Timeout' order by id limit 105").encode())
    pg.execute("select postmill.watch()")
    assert pg.execute("select key from postmill.incident where resolved_at is null").fetchall() == [
        ("send:Timeout",)
    ]
    pg.execute(discard.format("true").encode())
    pg.execute("select postmill.watch()")
    assert pg.execute("select key from postmill.incident where resolved_at is null").fetchall() == []
    assert json.dumps(pg.execute("select count(*) from postmill.dead_news").fetchall()) == "[[0]]"
