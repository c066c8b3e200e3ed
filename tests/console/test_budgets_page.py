"""Budgets and limits: how far they are used up, changed for good or for a time, and asked for by tenants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from postmill.bind import adrive
from postmill.domain.access import Role
from postmill.operate import budgets
from tests.console.harness import Console, sent

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def seeded(console: Console) -> dict[str, str]:
    """A tenant's budget that is nearly used up, another's, the platform's, and limits."""
    api = console.api
    acme, other = await api.tenant("acme"), await api.tenant("other")
    made = {}
    for name, tenant, spent in (("llm", "acme", "41.5"), ("llm", "other", "7.77"), ("photos", None, "1")):
        one = await adrive(api.owner, budgets.set_budget(name, tenant=tenant, limit="50"))
        await adrive(api.owner, budgets.correct(one.id, spent, reason="<i>by hand</i>"))
        made[tenant or "platform"] = str(one.id)
    await api.define("embed", queue="ml", worker_limit=3, budget="llm")
    await api.owner.execute(
        "select * from postmill.door_set_limit('type', 'embed', '{}', null, '{\"count\": 5, \"seconds\": 60}')"
    )
    await api.owner.execute("update postmill.tenant set max_running = 8 where id = %s", [acme])
    for tenant in (acme, acme, other):
        await api.owner.execute("select * from postmill.enqueue_one('embed', '{}', %s)", [tenant])
    return made


async def test_lists_of_both_scopes(console: Console, seeded: dict[str, str]) -> None:
    platform, tenant = await console.browser(), await console.browser(Role.VIEWER, "acme")
    page = (await platform.get("/ops/budgets")).text
    for words in (
        "41.50",
        "7.77",
        "photos",
        "acme",
        "jobs at once on a worker",
        "5 / 1 min, burst 5",
        "tenant:acme",
    ):
        assert words in page, words
    assert page.count('id="budget-') == 3
    own = (await tenant.get("/t/acme/budgets")).text
    assert own.count('id="budget-') == 1
    assert "7.77" not in own
    detail = await tenant.get(f"/t/acme/budgets/{seeded['acme']}")
    assert detail.status_code == 200, detail.text
    assert 'id="course"' in detail.text
    assert "&lt;i&gt;by hand&lt;/i&gt;" in detail.text
    assert (
        '<a href="/t/acme/jobs?q=state%3Aqueued%2Cscheduled+type%3Aembed" class="mono">embed</a>: 2'
        in detail.text
    )
    assert "Change the limit" not in detail.text
    assert "Ask for another limit" not in detail.text
    for hidden in ("other", "platform"):
        assert (await tenant.get(f"/t/acme/budgets/{seeded[hidden]}")).status_code == 404
    assert (await platform.get(f"/ops/budgets/{seeded['platform']}")).status_code == 200


async def test_a_limit_is_changed_until_a_moment(console: Console, seeded: dict[str, str]) -> None:
    client = await console.browser()
    one = f"/ops/budgets/{seeded['other']}"
    wrong = await sent(client, one, f"{one}/limit", limit="</i>much", until="soon", reason="")
    assert wrong.status_code == 422
    assert 'id="e-until"' in wrong.text
    assert 'id="e-reason"' in wrong.text
    assert 'value="&lt;/i&gt;much"' in wrong.text
    wrong = await sent(client, one, f"{one}/limit", limit="much", reason="r")
    assert 'id="e-limit"' in wrong.text
    wrong = await sent(client, one, f"{one}/limit", limit="60", reason="r", until="2100-01-01")
    assert "after the end of the period" in wrong.text
    until = datetime.now(UTC) + timedelta(minutes=10)
    found = await adrive(console.api.owner, budgets.budget("llm", tenant="other"))
    until = min(until, found.standing.ends_at)
    right = await sent(client, one, f"{one}/limit", limit="80", reason="a fair", until=until.isoformat())
    assert right.status_code == 303, right.text
    page = (await client.get(one)).text
    assert "a fair" in page
    assert "(usually 50.00)" in page
    async with await console.api.database.aconnect() as later:
        await later.execute("select set_config('postmill.clock_offset', '11 minutes', false)")
        done = await (await later.execute("select postmill.expire_budget_limits(10)")).fetchone()
        again = await (await later.execute("select postmill.expire_budget_limits(10)")).fetchone()
    assert (done, again) == ((1,), (0,))
    found = await adrive(console.api.owner, budgets.budget("llm", tenant="other"))
    assert (found.limit, found.standing.limit) == (50, 50)
    assert "it held until then" in (await client.get(one)).text
    assert (await sent(client, one, f"{one}/limit", limit="90", reason="for good")).status_code == 303
    found = await adrive(console.api.owner, budgets.budget("llm", tenant="other"))
    assert (found.limit, found.standing.limit) == (90, 90)


async def test_a_tenant_asks_and_the_platform_answers(console: Console, seeded: dict[str, str]) -> None:
    admin, platform = await console.browser(Role.TENANT_ADMIN, "acme"), await console.browser()
    operator = await console.browser(Role.OPERATOR, "acme")
    one = f"/t/acme/budgets/{seeded['acme']}"
    assert (await sent(operator, one, f"{one}/ask", limit="70", reason="more")).status_code == 403
    assert (await sent(admin, one, f"{one}/limit", limit="70", reason="more")).status_code == 403
    assert 'id="e-reason"' in (await sent(admin, one, f"{one}/ask", limit="70")).text
    asked = await sent(admin, one, f"{one}/ask", limit="70", reason="<b>Christmas</b>")
    assert asked.status_code == 303, asked.text
    twice = await sent(admin, one, f"{one}/ask", limit="71", reason="again")
    assert "is asked for already" in twice.text
    assert "&lt;b&gt;Christmas&lt;/b&gt;" in (await admin.get("/t/acme/budgets")).text
    page = (await platform.get("/ops/budgets")).text
    assert "&lt;b&gt;Christmas&lt;/b&gt;" in page
    id = page.partition('id="request-')[2].partition('"')[0]
    viewer = await console.browser(Role.PLATFORM_VIEWER)
    assert f"/budget-requests/{id}/grant" not in (await viewer.get("/ops/budgets")).text
    grant = f"/ops/budget-requests/{id}/grant"
    assert (await sent(viewer, "/ops/budgets", grant)).status_code == 403
    assert (await sent(platform, "/ops/budgets", grant)).status_code == 303
    assert (await sent(platform, "/ops/budgets", grant)).status_code == 409
    assert (await adrive(console.api.owner, budgets.budget("llm", tenant="acme"))).limit == 70
    await sent(admin, one, f"{one}/ask", limit="700", reason="still more")
    page = (await platform.get("/ops/budgets")).text
    id = page.partition('id="request-')[2].partition('"')[0]
    decline = f"/ops/budget-requests/{id}/decline"
    assert (await sent(platform, "/ops/budgets", decline)).status_code == 422
    assert (await sent(platform, "/ops/budgets", decline, answer="no money")).status_code == 303
    assert "no money" in (await admin.get(one)).text
    log = await console.api.rows("select action from postmill.audit_log where target = 'llm' and action ~ 'request|grant|decline'"
                                 " order by at")  # fmt: skip
    assert [action for (action,) in log] == [
        "budgets.request",
        "budgets.grant",
        "budgets.request",
        "budgets.decline",
    ]


async def test_a_new_budget(console: Console, seeded: dict[str, str]) -> None:
    client = await console.browser()
    typed = {"name": "x y", "tenant": "nope", "limit": "1", "reason": "r", "unit": "USD", "period": "day"}
    assert 'id="e-tenant"' in (await sent(client, "/ops/budget-new", "/ops/budget-new", **typed)).text
    wrong = await sent(client, "/ops/budget-new", "/ops/budget-new", **typed | {"tenant": "", "limit": "-1"})
    assert wrong.status_code == 422
    made = await sent(
        client, "/ops/budget-new", "/ops/budget-new", **typed | {"name": "calls", "tenant": "acme"}
    )
    assert made.status_code == 303, made.text
    assert "The budget calls was made." in (await client.get(made.headers["location"])).text
    twice = await sent(
        client, "/ops/budget-new", "/ops/budget-new", **typed | {"name": "calls", "tenant": "acme"}
    )
    assert 'id="e-name"' in twice.text
