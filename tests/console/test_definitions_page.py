"""Definitions: the list with its figures, one of them, what is tried, and what the super admin edits."""

from __future__ import annotations

import json

import pytest
import pytest_asyncio

from postmill.bind import adrive
from postmill.domain.access import Role
from postmill.operate import definitions, triggers
from tests.console.harness import Console, sent

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCHEMA = {
    "type": "object",
    "properties": {
        "month": {"type": "string", "pattern": "^2026-", "description": "Which <b>month</b>"},
        "copies": {"type": "integer", "minimum": 1},
        "format": {"enum": ["pdf", "csv"]},
        "loud": {"type": "boolean"},
    },
    "required": ["month"],
    "additionalProperties": False,
}
DESCRIPTION = "Reports.</p><script>alert(1)</script>\nRunbook: https://wiki.test/reports\njavascript:alert(1)"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def seeded(console: Console) -> Console:
    """Two definitions, one of them with a past: a trigger, jobs, counts, spending."""
    api = console.api
    fields = {"key": "reports/build", "kind": "http", "queue": "reports", "description": DESCRIPTION, "arg_schema": SCHEMA,
              "timeout_seconds": 90, "max_attempts": 4, "idempotency": "active"}  # fmt: skip
    made = await adrive(api.owner, definitions.create(fields))
    await adrive(api.owner, definitions.edit(made.id, {"timeout_seconds": 120, "priority": 7}))
    await adrive(api.owner, definitions.create({"key": "free", "kind": "http", "queue": "reports",
        "arg_schema": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "integer"}}}}}))  # fmt: skip
    acme = await api.tenant("acme")
    trigger = {"label": "Monthly", "trigger_type": "schedule", "cron_expr": "0 3 1 * *", "definition_key": "reports/build",
               "payload_template": {"month": "2026-01"}}  # fmt: skip
    await adrive(api.owner, triggers.create(trigger, tenant=acme))
    await api.owner.execute(
        "update postmill.queue set owner = 'Ada', sla_seconds = 300 where name = 'reports'"
    )
    for run, outcome in ((0.2, "succeeded"), (40.0, "succeeded"), (2.0, "dead_letter")):
        await api.owner.execute(
            "select postmill.count_end(%s, 'reports', 'reports/build', %s, 1::numeric, %s::numeric, %s::numeric)",
            [acme, outcome, run, run],
        )
    return console


async def test_the_list_and_one_of_it(seeded: Console) -> None:
    platform, tenant = await seeded.browser(), await seeded.browser(Role.VIEWER, "acme")
    page = await platform.get("/ops/definitions")
    assert page.status_code == 200, page.text
    for words in ("reports/build", "registered, and no live worker serves it", "Ada", "2 min", "4 attempts:",
                  "5 min", "33.3 %", "active"):  # fmt: skip
        assert words in page.text, words
    assert (await platform.get("/ops/definitions?_part=list&kind=command")).text.count(
        "No definition is like that"
    ) == 1
    assert (await platform.get("/ops/definitions?after=free")).text.count('id="definition-') == 1
    whole = await platform.get("/ops/definitions/reports/build")
    assert whole.status_code == 200, whole.text
    assert "<script>alert" not in whole.text
    assert '<a href="https://wiki.test/reports" rel="noreferrer noopener">Runbook</a>' in whole.text
    assert 'href="javascript' not in whole.text
    assert "<del>90</del>" in whole.text
    assert "<ins>120</ins>" in whole.text
    assert "Monthly" in whole.text
    assert 'id="runs"' in whole.text
    own = (await tenant.get("/t/acme/definitions/reports/build")).text
    assert "earlier versions are not shown to tenants" in own
    assert "Workers that serve it" not in own
    assert "Try it" not in own
    assert "/definition-edit/" not in own
    assert (await tenant.get("/t/acme/definitions/nope")).status_code == 404


async def test_a_definition_is_tried_by_a_form_of_its_schema(seeded: Console) -> None:
    client = await seeded.browser(Role.OPERATOR, "acme")
    path = "/t/acme/definition-try/reports/build"
    form = await client.get(path)
    assert form.headers["cache-control"] == "no-store"
    assert "Which &lt;b&gt;month&lt;/b&gt;" in form.text
    assert '<option value="pdf">' in form.text
    typed = {"arg.month": '</textarea>"2025-', "arg.copies": "0", "arg.format": "pdf", "arg.loud": ""}
    wrong = await sent(client, path, path, **typed)
    assert wrong.status_code == 422
    assert 'id="e-arg.month"' in wrong.text
    assert 'id="e-arg.copies"' in wrong.text
    assert 'value="&lt;/textarea&gt;&#34;2025-"' in wrong.text
    assert "is a number" in (await sent(client, path, path, **typed | {"arg.copies": "x"})).text
    right = await sent(client, path, path, **typed | {"arg.month": "2026-11", "arg.copies": "2"})
    assert right.status_code == 303, right.text
    rows = await seeded.api.rows(
        "select payload::text, actor_id from postmill.job where job_type = 'reports/build'"
    )
    assert [(json.loads(text), actor) for text, actor in rows] == [
        ({"month": "2026-11", "copies": 2, "format": "pdf"}, "operator@acme")
    ]
    await sent(client, path, path, **typed | {"arg.month": "2026-11", "arg.copies": "2"})
    assert "holds its key already" in (await client.get("/t/acme/triggers")).text
    free = "/t/acme/definition-try/free"
    wrong = await sent(client, free, free, payload='{"list": ["{{7*7}}"]}')
    assert wrong.status_code == 422
    assert "/list/0" in wrong.text
    assert "{{7*7}}" in wrong.text
    assert "is no JSON" in (await sent(client, free, free, payload="{")).text
    platform = await seeded.browser()
    lost = await sent(
        platform, "/ops/definition-try/free", "/ops/definition-try/free", payload="{}", tenant="nope"
    )
    assert 'id="e-tenant"' in lost.text
    viewer = await seeded.browser(Role.VIEWER, "acme")
    assert (await viewer.get(path)).status_code == 403
    assert "Where its jobs come from" in (await client.get("/t/acme/definitions/reports/build")).text
    assert "operator@acme" in (await client.get("/t/acme/definitions/reports/build")).text


async def test_the_super_admin_edits(seeded: Console) -> None:
    client = await seeded.browser()
    path = "/ops/definition-edit/free"
    form = (await client.get(path)).text
    version = form.partition('name="version" value="')[2].partition('"')[0]
    values = {"description": "new", "timeout_seconds": "two", "max_attempts": "0", "on_exhausted": "fail", "priority": "100",
              "worker_limit": "", "replay_class": "never", "version": version}  # fmt: skip
    wrong = await sent(client, path, path, **values)
    assert wrong.status_code == 422
    assert 'id="e-timeout_seconds"' in wrong.text
    wrong = await sent(client, path, path, **values | {"timeout_seconds": "5m"})
    assert 'id="e-max_attempts"' in wrong.text, wrong.text
    right = values | {"timeout_seconds": "5m", "max_attempts": "2"}
    assert (await sent(client, path, path, **right)).status_code == 303
    stale = await sent(client, path, path, **right | {"priority": "5"})
    assert "by now; look at it again" in stale.text
    found = await adrive(seeded.api.owner, definitions.definition("free"))
    assert (found.timeout_seconds, found.max_attempts, found.on_exhausted, found.is_active) == (
        300,
        2,
        "fail",
        False,
    )
    operator = await seeded.browser(Role.PLATFORM_OPERATOR)
    assert (await operator.get(path)).status_code == 403
    admin = await seeded.browser(Role.TENANT_ADMIN, "acme")
    assert (await admin.get("/t/acme/definition-edit/free")).status_code == 404
