"""The audit log as a page and a file: filters, what changed, links from and to objects, the chain."""

from __future__ import annotations

import json

import pytest
import pytest_asyncio

from postmill.bind import adrive
from postmill.domain.access import Role
from postmill.operate import audit, budgets, commands
from tests.access.sealing import sealer
from tests.console.harness import Console, sent

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVIL = "<script>alert(1)</script>{{7*7}}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def seeded(console: Console) -> Console:
    """A queue that was paused, budgets of two tenants that were changed, sealed."""
    api = console.api
    await api.owner.execute("insert into postmill.queue (name) values ('mail')")
    await adrive(api.owner, commands.pause("mail", reason=EVIL))
    for tenant in ("acme", "other"):
        await api.tenant(tenant)
        await adrive(api.owner, budgets.set_budget("llm", tenant=tenant, limit="50", actor_id="bob"))
        await adrive(
            api.owner, budgets.set_budget("llm", tenant=tenant, limit="60", reason="more", actor_id="bob")
        )
    await api.owner.execute(
        """select postmill.audit('jobs.cancel', 'job', '0198f3a2-7c11-7abc-8def-0123456789ab', t.id, '{"api_token": "hush"}',
           '{"api_token": "hush hush"}') from postmill.tenant t where t.slug = 'acme'"""
    )
    await seal(console)
    return console


async def test_what_was_done_and_what_changed(seeded: Console) -> None:
    client = await seeded.browser()
    page = await client.get("/ops/audit")
    assert page.status_code == 200, page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{7*7}}" in page.text
    assert "<script>alert" not in page.text
    assert "hush" not in page.text
    assert 'href="/ops/queues/mail"' in page.text
    assert 'href="/ops/audit?kind=queue&amp;target=mail"' in page.text
    only = (await client.get("/ops/audit?kind=queue&target=mail")).text
    assert only.count('id="audit-') == 1
    changed = (await client.get("/ops/audit?action=budgets.set&actor=bob&tenant=acme")).text
    assert changed.count('id="audit-') == 2
    assert "<del>50</del>" in changed
    assert "<ins>60</ins>" in changed
    link = changed.partition('href="/ops/budget-named/')[2].partition('"')[0].replace("&amp;", "&")
    answer = await client.get(f"/ops/budget-named/{link}")
    assert answer.status_code == 303
    assert "Changes" in (await client.get(answer.headers["location"])).text
    assert "The filter hides all of it" in (await client.get("/ops/audit?result=refused")).text
    assert (await client.get("/ops/audit?result=nope")).status_code == 422
    assert (await client.get("/ops/audit?since=nope")).status_code == 422
    assert (await client.get("/ops/audit?tenant=nope")).status_code == 404
    assert (await client.get("/ops/audit?before=nope/nope")).status_code == 422
    assert (await client.get("/ops/audit?until=2001-01-01&_part=list")).text.count('id="audit-') == 0


async def test_scopes_and_roles(seeded: Console) -> None:
    admin, auditor = await seeded.browser(Role.TENANT_ADMIN, "acme"), await seeded.browser(Role.AUDITOR)
    viewer = await seeded.browser(Role.VIEWER, "acme")
    own = await admin.get("/t/acme/audit")
    assert "more" in own.text
    assert "chain" not in own.text.partition("<h1>")[2]
    assert EVIL[:8] not in own.text
    assert (await admin.get("/t/acme/audit?kind=queue&target=mail")).text.count('id="audit-') == 0
    assert (await auditor.get("/ops/audit")).status_code == 200
    assert (await viewer.get("/t/acme/audit")).status_code == 403
    assert (await sent(admin, "/t/acme/audit", "/ops/audit/export")).status_code == 404
    denied = await (await seeded.browser()).get("/ops/audit?result=denied&actor=viewer%40acme")
    assert "requests." in denied.text or "audit.read" in denied.text


async def test_a_file_of_it(seeded: Console) -> None:
    admin, platform = await seeded.browser(Role.TENANT_ADMIN, "acme"), await seeded.browser()
    answer = await sent(admin, "/t/acme/audit", "/t/acme/audit/export", action="budgets.set")
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert 'filename="audit-acme.ndjson"' in answer.headers["content-disposition"]
    assert answer.headers["cache-control"] == "no-store"
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert [row["action"] for row in rows] == ["budgets.set", "budgets.set"]
    assert rows[0]["after"]["limit_amount"] == 60
    whole = (await sent(platform, "/ops/audit", "/ops/audit/export")).text.splitlines()
    assert len(whole) > len(rows)
    assert "hush" not in "".join(whole)
    noted = await seeded.api.rows(
        "select after::text from postmill.audit_log where action = 'audit.export' order by at"
    )
    assert [json.loads(text) for (text,) in noted] == [{"action": "budgets.set"}, {}]


async def test_the_chain(seeded: Console) -> None:
    client, owner = await seeded.browser(), seeded.api.owner
    await seal(seeded)
    page = (await client.get("/ops/audit?_part=chain")).text
    assert "links of the chain hold; sealed up to link" in page
    assert "0 rows wait to be sealed" in page
    for most in (1, 2, 1000):
        checked = await adrive(owner, audit.check_end(most))
        assert checked is not None
        assert (checked.broken, checked.checked) == (None, min(most, checked.status.n))
    await owner.execute("set session_replication_role = replica")
    await owner.execute("update postmill.audit_log set reason = 'another' where action = 'queues.pause'")
    await owner.execute("set session_replication_role = default")
    broken = (await client.get("/ops/audit")).text
    assert "The log is not as it was written:" in broken
    assert "was changed" in broken


async def seal(console: Console) -> None:
    async with sealer(console.api.database.dsn) as round:
        await round.guarded()
