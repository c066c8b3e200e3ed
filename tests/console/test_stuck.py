"""What does not go on though nothing fails: a queue that nobody serves, a schedule that waits for its own job."""

from __future__ import annotations

import json
from uuid import UUID

import pytest
import pytest_asyncio

from postmill.bind import adrive
from postmill.domain.access import Role
from postmill.operate import triggers
from tests.console.harness import Console
from tests.console.outage import do
from tests.console.test_now import page

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stuck(console: Console) -> dict[str, UUID]:
    """Two jobs of acme wait for a minute where nobody claims; a schedule of beta left out three runs for one that runs."""
    api = console.api
    for key in ("export", "sync"):
        await api.define(key, queue=f"{key}s")
    acme, beta = await api.tenant("acme"), await api.tenant("beta")
    fields = {
        "label": "ledger <b>sync</b>",
        "trigger_type": "schedule",
        "every": "1m",
        "overlap": "skip",
        "definition_key": "sync",
        "payload_template": {},
    }
    made = (await adrive(api.owner, triggers.create(fields, tenant=beta))).trigger.id
    await do(api, "select postmill.enqueue('export', '{}', tenant => %s) from generate_series(1, 2)", acme)
    await aged(console, 60)
    [(job,)] = await api.rows(
        "select postmill.enqueue('sync', '{}', tenant => %s, delay => interval '1 day')", beta
    )
    await do(
        api,
        "update postmill.trigger set last_run_at = postmill.now() - interval '5 minutes', last_job_id = %s",
        job,
    )
    return {"trigger": made, "job": job}


async def aged(console: Console, seconds: int) -> None:
    """All that waits has waited for so long."""
    await do(console.api, """with gone as (delete from postmill.ready returning *)
                             insert into postmill.ready
                             select (jsonb_populate_record(null::postmill.ready, to_jsonb(gone) || jsonb_build_object('ready_at',
                                         postmill.now() - %s * interval '1 second'))).* from gone""", seconds)  # fmt: skip


async def tick(console: Console, trigger: UUID, minutes: int, detail: str, outcome: str = "skipped") -> None:
    await do(console.api, """insert into postmill.tick (trigger_id, due, tenant_id, outcome, detail, fired_at)
                             select id, postmill.now() - %s * interval '1 minute', tenant_id, %s, %s, postmill.now()
                               from postmill.trigger where id = %s""", minutes, outcome, detail, trigger)  # fmt: skip


async def test_the_first_page_tells_of_a_queue_that_nobody_serves(
    console: Console, stuck: dict[str, UUID]
) -> None:
    now = await page(console, "/ops")
    assert "2 jobs wait in exports, which no worker serves , since" in now.text
    assert "/ops/queues/exports" in now.links
    # Nobody hears of it at once: workers are replaced.
    await aged(console, 20)
    assert "no worker serves" not in (await page(console, "/ops")).text
    await aged(console, 60)
    await do(console.api, "select postmill.pause_queue('exports', 'for a reason')")
    paused = await page(console, "/ops")
    assert "no worker serves" not in paused.text
    assert "1 queue is paused : exports" in paused.text
    await do(console.api, "select postmill.resume_queue('exports')")
    await do(console.api, """insert into postmill.worker (holder, worker_id, hostname, pid, started_at, last_seen_at, queues)
                             values (gen_random_uuid(), 'w', 'c', 1, postmill.now(), postmill.now(), '{exports}')""")  # fmt: skip
    await do(console.api, """insert into postmill.lease (holder, started_at, expires_at)
                             select holder, postmill.now(), postmill.now() + interval '1 h' from postmill.worker""")  # fmt: skip
    assert "no worker serves" not in (await page(console, "/ops")).text


async def test_a_schedule_that_waits_for_its_own_job(console: Console, stuck: dict[str, UUID]) -> None:
    trigger, why = stuck["trigger"], f"the job of the run before is not over: {stuck['job']}"
    here = f"/ops/triggers/{trigger}"
    new = (await page(console, here)).text
    assert (
        new.count("never fired") == new.count("It never fired") == 1
    )  # no warning: its first run is still to come
    for minutes in (3, 2):
        await tick(console, trigger, minutes, why)
    assert "held up" not in (await page(console, "/ops")).text
    await tick(console, trigger, 1, why)
    now = await page(console, "/ops")
    assert "Schedule ledger <b>sync</b> is held up by its last job , since" in now.text
    assert {here, "/t/beta"} <= set(now.links)
    shown = await page(console, here)
    assert "the last 3 runs were left out: its job before is not over" in shown.text
    assert shown.links.count(f"/ops/jobs/{stuck['job']}") == 4  # above, and beside each of them
    assert "the last 3 runs were left out" in (await page(console, "/ops/triggers")).text
    # To its own tenant as well, and nothing of others.
    mine = await page(console, f"/t/beta/triggers/{trigger}", Role.TENANT_ADMIN, "beta")
    assert f"/t/beta/jobs/{stuck['job']}" in mine.links
    await tick(console, trigger, 0, "", "enqueued")
    assert "held up" not in (await page(console, "/ops")).text
    assert "were left out" not in (await page(console, here)).text


async def test_a_late_queue_says_whose_jobs_wait(console: Console, stuck: dict[str, UUID]) -> None:
    """Where nothing has ended there is no failure that would tell whom it hurts."""
    rows = [
        ["exports", "acme", "queued", 2, 61],
        ["exports", "beta", "queued", 5, 61],
        ["syncs", "gamma", "queued", 1, 1],
    ]
    await do(console.api, """update postmill.upkeep set note = jsonb_build_object('depths', %s::jsonb),
                                    last_run_at = postmill.now() where name = 'monitor'""", json.dumps(rows))  # fmt: skip
    await do(console.api, "select postmill.note_incident('sla_breach', 'exports', 'warning', 'queue exports is late', '{}', null,"
                          " 'exports', null, '{}')")  # fmt: skip
    now = await page(console, "/ops")
    assert "beta , acme 7 wait" in now.text
    assert "gamma" not in now.text
    assert "1 queue breaches its SLA since" in now.text
    assert now.text.count("exports") >= 2
    assert "no worker serves" not in now.text  # the incident tells of it
