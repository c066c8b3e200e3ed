"""Queues, workers, tenants and the system: what they say, who may act, names that would be markup."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
import pytest_asyncio

from postmill.domain.access import Role
from tests.console.fleet_world import CLEAN, EVIL, LIVE, LOST, fill
from tests.console.harness import Console, sent

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(console: Console) -> Console:
    """A console with it."""
    await fill(console)
    return console


async def test_queues(fleet: Console) -> None:
    client = await fleet.browser(Role.PLATFORM_OPERATOR)
    page = (await client.get("/ops/queues")).text
    assert EVIL not in page
    assert "&lt;img src=x" in page
    row = _row(page, "queue-&lt;img")
    assert "breach" in row
    assert "total 30 s" in row
    assert re.search(r"acme <span class=\"muted\">80 %", row)
    assert "it grows" not in row
    assert "no workers" in _row(page, "queue-idle")
    assert "no workers: 1" in page
    only = (await client.get("/ops/queues?health=breach")).text
    assert 'id="queue-idle"' not in only
    assert "The filter hides all queues." in (await client.get("/ops/queues?q=nothing")).text
    assert (await client.get("/ops/queues?sort=color")).status_code == 422
    part = await client.get("/ops/queues?_part=list")
    assert "<html" not in part.text
    assert "breach" in part.text


async def test_a_queue(fleet: Console) -> None:
    client = await fleet.browser(Role.PLATFORM_OPERATOR)
    path = "/ops/queues/%3Cimg%20src=x%20onerror=%22alert(1)%22%3E"
    page = (await client.get(path)).text
    assert EVIL not in page
    assert page.count("<svg") > 6
    assert re.search(r"acme</a></th><td class=\"num\">1</td><td class=\"num\">100 %</td>", page)
    assert "the slots of its workers" not in page  # two of four are taken
    for part in ("facts", "course", "tenants"):
        assert (await client.get(f"{path}?_part={part}")).status_code == 200
    answer = await sent(client, path, f"{path}/pause", reason=EVIL, **{"for": "1h"})
    assert answer.status_code == 303
    page = (await client.get(path)).text
    assert EVIL not in page
    assert "It opens again at" in page
    assert "2 jobs still run." in page
    assert "Queue paused:" in page
    assert re.search(r"Queue paused</td>.*?&lt;img", page, re.DOTALL)
    assert (await sent(client, path, f"{path}/pause", **{"for": "soon"})).status_code == 422
    tenant = await fleet.browser(Role.VIEWER, "acme")
    assert "Queue paused:" in (await tenant.get("/t/acme/jobs")).text
    other = await fleet.browser(Role.VIEWER, "globex")
    assert "Queue paused:" not in (await other.get("/t/globex/jobs")).text
    moved = await sent(client, path, f"{path}/move", job_type="plain", to="idle")
    assert moved.status_code == 303
    assert "2 jobs of plain were moved." in (await client.get(path)).text
    await sent(client, path, f"{path}/move", job_type="plain", to=EVIL)
    assert (await sent(client, path, f"{path}/resume")).status_code == 303
    assert "is open again." in (await client.get(path)).text
    assert (await client.get("/ops/queues/nope")).status_code == 404


async def test_workers(fleet: Console) -> None:
    client = await fleet.browser(Role.PLATFORM_OPERATOR)
    page = (await client.get("/ops/workers")).text
    assert EVIL not in page
    assert re.search(r"stale for (5:[345]|[678]:\d)\d", page)
    assert "stopped cleanly" in page
    assert re.search(r"\d+ s ago · stale in [789]:\d\d", _row(page, f"worker-{LIVE}"))
    live = _row(page, f"worker-{LIVE}")
    for word in (
        "old build",
        "clock is off",
        "slots full for long",
        "123 MiB",
        "+4.500 s",
        "(2–8; held: processor pressure 97 %)",
    ):
        assert word in live, word
    assert "2 jobs wait for a rescue" in page
    assert "no worker serves this queue" in page
    stale = (await client.get("/ops/workers?state=stale")).text
    assert f"worker-{LOST}" in stale
    assert f"worker-{LIVE}" not in stale
    assert "The filter hides all workers." in (await client.get("/ops/workers?queue=nope")).text
    # One that took what ran from its jobs did not stop cleanly; and builds of the application are told.
    await fleet.api.owner.execute(
        """update postmill.worker set report = report || '{"interrupted": 2}', build = 'b<7>' where holder = %s""",
        [CLEAN],
    )
    one = (await client.get(f"/ops/workers/{CLEAN}")).text
    assert "stopped; 2 jobs were interrupted and given back" in one
    assert "b&lt;7&gt;" in one
    assert "stopped cleanly" not in one


async def test_a_worker_is_asked_and_its_jobs_are_rescued(fleet: Console) -> None:
    client = await fleet.browser(Role.PLATFORM_OPERATOR)
    path = f"/ops/workers/{LIVE}"
    page = (await client.get(path)).text
    assert EVIL not in page
    assert "Nothing: it holds no job." in page
    assert "follows its work, 2 to 8; held: processor pressure 97 %" in page
    for part in ("facts", "held", "ended"):
        assert (await client.get(f"{path}?_part={part}")).status_code == 200
    assert (await sent(client, path, f"{path}/drain", reason="new disk")).status_code == 303
    page = (await client.get(path)).text
    assert "claims nothing more as soon as it hears of it." in page
    assert "Asked to drain by platform_operator" in page
    assert (await sent(client, path, f"{path}/stop")).status_code == 422
    assert (await sent(client, path, f"{path}/resume")).status_code == 303
    assert (await sent(client, path, f"{path}/rescue", reason="now")).status_code == 409
    lost = f"/ops/workers/{LOST}"
    page = (await client.get(lost)).text
    assert "2 to be asked about before running again" in page
    assert (await sent(client, lost, f"{lost}/rescue", reason="the host burns")).status_code == 303
    page = (await client.get(lost)).text
    assert "2 jobs were taken back." in page
    assert "Rescue its jobs" not in page
    assert (await client.get(f"/ops/workers/{uuid4()}")).status_code == 404
    viewer = await fleet.browser(Role.PLATFORM_VIEWER)
    page = (await viewer.get(path)).text
    assert f'action="{path}/drain"' not in page
    assert "Your role may not do this" in page
    assert (await sent(viewer, path, f"{path}/drain")).status_code == 403


async def test_tenants(fleet: Console) -> None:
    client = await fleet.browser()
    page = (await client.get("/ops/tenants")).text
    assert EVIL not in page
    row = _row(page, "tenant-acme")
    assert "noisy" in row
    assert "0.0 %" in row  # nothing was within the promise
    busy = (await client.get("/ops/tenants?sort=busy")).text
    assert busy.index('id="tenant-acme"') < busy.index('id="tenant-globex"')
    assert 'id="tenant-default"' not in busy
    assert "No tenant fits." in (await client.get("/ops/tenants?state=suspended")).text
    assert 'id="tenant-globex"' not in (await client.get("/ops/tenants?q=ACM")).text
    path = "/ops/tenants/acme"
    page = (await client.get(path)).text
    assert EVIL not in page
    assert (await client.get(f"{path}?_part=facts")).status_code == 200
    assert (await sent(client, path, f"{path}/throttle")).status_code == 422
    for act, word in (
        ("throttle", "is throttled."),
        ("suspend", "open nothing."),
        ("activate", "is active again."),
    ):
        assert (await sent(client, path, f"{path}/{act}", reason=EVIL)).status_code == 303
        page = (await client.get(path)).text
        assert word in page
        assert EVIL not in page
    assert (
        await sent(client, path, f"{path}/limits", reason="r", max_running="4", weight="3")
    ).status_code == 303
    assert (await sent(client, path, f"{path}/raise", reason="r", raised_to="9")).status_code == 422
    assert (
        await sent(client, path, f"{path}/raise", reason="r", raised_to="9", **{"for": "4h"})
    ).status_code == 303
    page = (await client.get(path)).text
    assert "The limit of acme is 9 until" in page
    assert "its own: 4" in page
    assert (await sent(client, path, f"{path}/raise", reason="r")).status_code == 303
    assert "is its own again." in (await client.get(path)).text
    actions = {
        row[0] for row in await fleet.api.rows("select action from postmill.audit_log where target = 'acme'")
    }
    assert "tenants.change" in actions
    operator = await fleet.browser(Role.PLATFORM_OPERATOR)
    assert (await sent(operator, path, f"{path}/suspend", reason="r")).status_code == 403
    assert "Your role may not see them." in (await operator.get(path)).text
    assert (await client.get("/ops/tenants/nope")).status_code == 404


async def test_to_see_what_a_tenant_sees(fleet: Console) -> None:
    """Nothing else is there meanwhile, and nothing can be changed; both ends are in the tenant's log."""
    client = await fleet.browser(Role.PLATFORM_OPERATOR)
    before = (await client.get("/t/acme/jobs")).text
    assert "You view as" not in before
    answer = await sent(client, "/ops/tenants/acme", "/ops/tenants/acme/view-as", reason="a call")
    assert (answer.status_code, answer.headers["location"]) == (303, "/t/acme")
    page = (await client.get("/t/acme/jobs")).text
    assert "You view as the tenant <strong>acme</strong>" in page
    assert '<a href="/ops">' not in page
    for gone in ("/ops/queues", "/ops/tenants/acme", "/t/globex/jobs"):
        assert (await client.get(gone)).status_code == 404, gone
    assert (await client.get("/")).headers["location"] == "/t/acme"
    refused = await sent(client, "/t/acme/jobs", f"/t/acme/jobs/{uuid4()}/cancel")
    assert refused.status_code in (403, 404)
    kept = await sent(client, "/t/acme/jobs", "/t/acme/preferences", theme="dark")
    assert kept.status_code == 303
    done = await sent(client, "/t/acme/jobs", "/t/acme/view-as/end")
    assert (done.status_code, done.headers["location"]) == (303, "/ops/tenants/acme")
    assert (await client.get("/ops/queues")).status_code == 200
    log = await fleet.api.rows(
        "select action, actor_id, reason, t.slug from postmill.audit_log l join postmill.tenant t on t.id = l.tenant_id"
        " where action like 'tenants.view%%' order by l.id"
    )
    who = "platform_operator@None"
    assert log == [("tenants.view_as", who, "a call", "acme"), ("tenants.view_as_end", who, None, "acme")]
    tenant = await fleet.browser(Role.TENANT_ADMIN, "acme")
    assert (await sent(tenant, "/t/acme/jobs", "/t/acme/view-as/end")).status_code == 404


async def test_the_system(fleet: Console) -> None:
    client = await fleet.browser(Role.PLATFORM_VIEWER)
    await client.get("/ops/queues")
    page = (await client.get("/ops/system")).text
    assert EVIL not in page
    for word in (
        "Replication",
        "Statistics",
        "Oldest transaction",
        "postmill.job",
        fleet.api.app.state.timings.slowest(1)[0].name,
        "asleep: nobody watches live",
    ):
        assert word in page, word
    assert (await client.get("/ops/system?_part=checks")).status_code == 200
    every = (await client.get("/ops/system?checks=all")).text
    assert "Invariants" in every


async def test_who_may_look(fleet: Console) -> None:
    """Tenants find none of it; a role without the right is told so."""
    tenant = await fleet.browser(Role.TENANT_ADMIN, "acme")
    auditor = await fleet.browser(Role.AUDITOR)
    for path in ("/queues", "/workers", "/tenants", "/system", f"/workers/{LIVE}", "/tenants/acme"):
        assert (await tenant.get(f"/ops{path}")).status_code == 404, path
        assert (await tenant.get(f"/t/acme{path}")).status_code == 404, path
        assert (await auditor.get(f"/ops{path}")).status_code == 403, path


async def test_old_figures_are_said_to_be_old(fleet: Console) -> None:
    await fleet.api.owner.execute(
        "update postmill.upkeep set last_run_at = postmill.now() - interval '10 min' where name = 'monitor'"
    )
    client = await fleet.browser(Role.PLATFORM_VIEWER)
    assert "Depths and rates are 10 min old" in (await client.get("/ops/queues")).text
    async with fleet.api.owner.transaction():
        await fleet.api.owner.execute(
            "select pg_advisory_xact_lock(hashtextextended('postmill.migrate.postmill', 0))"
        )
        assert "A migration of the schema is running" in (await client.get("/ops/queues")).text


def _row(page: str, id: str) -> str:
    return page.partition(f'<tr id="{id}')[2].partition("</tr>")[0]
