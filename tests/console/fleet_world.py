"""A fleet for the pages of queues, workers and tenants: in all conditions, with names that would be markup."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import UUID, uuid4

from tests.console.harness import Console

EVIL = '<img src=x onerror="alert(1)">'
LOST, LIVE, CLEAN = (UUID(int=n) for n in (0xA1, 0xA2, 0xA3))

WORKERS = Path(__file__).with_name("fleet_workers.sql")


async def fill(console: Console) -> None:
    """A late queue with a hostile name, workers in all conditions, two tenants, and what the monitor measured."""
    api, owner = console.api, console.api.owner
    acme = await api.tenant("acme")
    await api.tenant("globex")
    await owner.execute(
        "insert into postmill.queue (name, sla_seconds, owner) values (%s, 30, %s)", [EVIL, EVIL]
    )
    await owner.execute("insert into postmill.queue (name) values ('idle')")
    await api.define("plain", queue=EVIL, replay_class="ask", max_attempts=3)
    await owner.execute("update postmill.tenant set name = %s where slug = 'acme'", [EVIL])
    error = {"at": "2031", "job_id": str(uuid4()), "job_type": EVIL, "error_class": EVIL, "message": EVIL}
    held = {"because": "cpu", "now": 0.97}
    ranges = {EVIL: {"least": 2, "most": 8, "because": None, "held": held}}
    report = {"memory_bytes": 123 << 20, "last_error": error, "ranges": ranges}
    new = UUID(int=0xA4)
    await owner.execute(
        WORKERS.read_bytes(),
        {
            "queue": EVIL,
            "report": json.dumps(report),
            "lost": LOST,
            "live": LIVE,
            "clean": CLEAN,
            "new": new,
            "evil": EVIL,
        },
    )
    await owner.execute(
        "insert into postmill.lease (holder, started_at, expires_at) select u.id, postmill.now(), postmill.now() + u.rest"
        " from (values (%s::uuid, interval '10 min'), (%s::uuid, interval '1 h'), (%s::uuid, - interval '330 s')) u(id, rest)",
        [LIVE, new, LOST],
    )
    for n in range(4):
        await owner.execute(
            "select postmill.enqueue('plain', %s::jsonb, tenant => %s)", [f'{{"n": {n}}}', acme]
        )
    await owner.execute(
        """with t as (delete from postmill.ready where id in (select id from postmill.ready order by id limit 2) returning *)
           insert into postmill.running (id, holder, claim_no, queue, lane, priority, attempt, run, lost, claimed_at)
           select id, %s, 1, queue, lane, priority, 1, 1, 0, postmill.now() - interval '7 min' from t""",
        [LOST],
    )
    await owner.execute(
        """insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n, run_sum, wait_hist, run_hist,
                  total_hist)
           select postmill.minute_of(postmill.now()) - g * interval '1 minute', %s, %s, 'plain', 'succeeded', 6, 60,
                  postmill.histogram(40), postmill.histogram(10), h.six from generate_series(0, 9) g,
                  (select array_agg(x * 6 order by i) as six from unnest(postmill.histogram(50)) with ordinality u(x, i)) h""",
        [acme, EVIL],
    )
    depths = [
        [EVIL, "acme", "queued", 2, 61.0],
        [EVIL, "globex", "queued", 1, 5.0],
        [EVIL, "acme", "running", 2, 420.0],
    ]
    await owner.execute(
        "update postmill.upkeep set note = jsonb_build_object('depths', %s::jsonb), last_run_at = postmill.now()"
        " where name = 'monitor'",
        [json.dumps(depths)],
    )
    await owner.execute("select postmill.watch()")
