"""How many workers a queue needs, against a scripted fleet: over HTTP, by the command line, and for whom."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from postmill.domain.access import Role
from tests.cli.support import cli
from tests.support.api import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")

FLEET: tuple[tuple[str, Any], ...] = (
    ("running", {"mail": 10}),
    ("running", {"mail": 6}),
    ("draining", {"mail": 10}),
    ("lost", {"mail": 10}),
)
HISTORY = """
insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n, run_sum, run_hist)
select postmill.minute_of(postmill.now()) - i * interval '1 minute', t.id, 'mail', 'send', o.outcome, o.n, o.run,
       (select array_agg(u.h * o.n order by u.k) from unnest(postmill.histogram(1.5)) with ordinality u(h, k) where o.run > 0)
  from (select id from postmill.tenant limit 1) t, generate_series(0, 6) i,
       (values ('enqueued', 600, 0.0), ('succeeded', 540, 1080.0), ('retried', 60, 120.0)) o(outcome, n, run)"""
READY = """
with body as (
    insert into postmill.job (id, tenant_id, job_type, queue, payload, priority, max_attempts, created_at)
    select postmill.new_id(), (select id from postmill.tenant limit 1), 'send', 'mail', '{}', 100, 3,
           postmill.now() - interval '40 seconds' from generate_series(1, %s) returning *
)
insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
select queue, tenant_id, priority, created_at, id, 1, 0, 0 from body"""


async def test_a_scripted_fleet(api: Api) -> None:
    dsn = api.database.dsn
    pg = api.owner
    await pg.execute('select postmill.register_job_types(\'[{"key": "send", "queue": "mail"}]\')')
    await pg.execute('select postmill.register_queues(\'[{"name": "mail", "wait_target_seconds": 60}]\')')
    for state, slots in FLEET:
        holder = uuid4()
        await pg.execute(
            "select postmill.open_session(%s, %s, %s, 'host', 1, '1.0', '{mail}', '{\"mail\": 10}', '{send}', '{}')",
            [holder, 0 if state == "lost" else 600, f"host:{holder}"],
        )
        report = (
            '{"slots": {"mail": 6}, "ranges": {"mail": {"least": 2, "most": 20}}}'
            if slots["mail"] == 6
            else "{}"
        )
        await pg.execute(
            "select postmill.worker_report(%s, 0, false, %s, %s::jsonb)",
            [holder, state == "draining", report],
        )
        await pg.execute(
            "update postmill.worker set draining = %s where holder = %s", [state == "draining", holder]
        )
    await pg.execute(HISTORY)
    await pg.execute("select postmill.fold_rollups(1000)")
    await pg.execute(
        "insert into postmill.queue_minute (queue, minute) values ('mail', postmill.now() - interval '9 minutes')"
    )
    await pg.execute("select postmill.note_queues()")
    await pg.execute(READY, [900])
    admin = await api.client(Role.PLATFORM_VIEWER, None)
    api.app.state.backend.loads._fresh = 60.0  # a second may be over on a busy machine
    told = (await admin.get("/scaling/mail")).json()
    assert told.pop("at", None), told
    assert 40 <= told.pop("oldest_seconds") < 70
    assert told == {
        "queue": "mail",
        "paused": False,
        "waiting": 900,
        "at_least": False,
        "running": 0,
        "arriving_per_second": 10.0,
        "finishing_per_second": 9.0,
        "run_seconds": 2.0,
        "workers": 2,
        "draining_workers": 1,
        "slots": 16,
        "drain_seconds": 60.0,
        "slots_each": 15,
        "desired_slots": 50,
        "desired_workers": 4,
        "because": "backlog",
        "text": "10 a second arrive and run for 2 s: 20 slots; 900 wait and shall have started within 60 s: 30 slots",
    }
    # Asked again within the second it is the same measurement, for another aim too.
    await pg.execute("select postmill.pause_queue('mail', 'why')")
    again = (await admin.get("/scaling/mail?slots_each=5&drain_seconds=900&most=3")).json()
    assert (again["paused"], again["desired_slots"], again["desired_workers"]) == (False, 22, 3)
    assert again["because"] == "most"
    listed = (await admin.get("/scaling?least=1")).json()["items"]
    assert [(one["queue"], one["because"], one["desired_workers"]) for one in listed] == [
        ("mail", "least", 1)
    ]
    # By the command line, as it is now; counting ends where it must.
    await pg.execute("select postmill.resume_queue('mail')")
    await pg.execute(READY, [9500])
    document = (await asyncio.to_thread(cli, "scaling", "MAIL", "--slots", "20", "--json", dsn=dsn)).json
    assert document["waiting"] == 10000
    assert document["at_least"] is True
    assert document.keys() == again.keys()
    shown = await asyncio.to_thread(cli, "scaling", "mail", "--max", "2", dsn=dsn, env={"COLUMNS": "140"})
    assert "10,000+" in shown.out
    assert "at most 2" in shown.err + shown.out
    wrong = await asyncio.to_thread(cli, "scaling", "mial", dsn=dsn)
    assert wrong.code == 5
    assert "did you mean 'mail'" in wrong.err
    # Numbers of all tenants are nobody's but the platform's.
    assert (await admin.get("/scaling/none")).status_code == 404
    assert (await (await api.client(Role.TENANT_ADMIN, "acme")).get("/scaling/mail")).status_code == 403
    assert (await admin.get("/scaling/mail?drain_seconds=0")).status_code == 422
