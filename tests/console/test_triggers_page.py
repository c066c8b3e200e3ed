"""Triggers: the list and one of them, the form that is tried before it is saved, acts, and making up for what was missed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
import pytest_asyncio

from postmill.bind import adrive
from postmill.domain.access import Role
from postmill.operate import triggers
from tests.console.harness import Console, sent

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVIL = "<script>alert(1)</script>{{7*7}}"
FIELDS = {
    "label": "Nightly",
    "trigger_type": "schedule",
    "cron_expr": "30 2 * * *",
    "timezone": "Europe/Berlin",
    "definition_key": "report",
    "payload_template": {"day": "{{ schedule.date }}", "note": "</textarea><img src=x>"},
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def seeded(console: Console) -> dict[str, UUID]:
    """A schedule and an event of acme, one of another tenant, and one of code."""
    api = console.api
    await api.define("report", queue="reports")
    acme, other = await api.tenant("acme"), await api.tenant("other")
    made = {}
    made["nightly"] = (await adrive(api.owner, triggers.create(FIELDS, tenant=acme))).trigger.id
    made["theirs"] = (
        await adrive(api.owner, triggers.create(FIELDS | {"label": "Of others"}, tenant=other))
    ).trigger.id
    fields = {
        "label": EVIL,
        "trigger_type": "event",
        "event_name": "user.*",
        "definition_key": "report",
        "payload_template": {"who": "{{ event.name }}"},
    }
    made["event"] = (await adrive(api.owner, triggers.create(fields, tenant=acme))).trigger.id
    made["code"] = (
        await adrive(api.owner, triggers.create(FIELDS | {"label": "Of the code"}, tenant=acme))
    ).trigger.id
    await api.owner.execute(
        "update postmill.trigger set origin = 'code', declared_in = 'app.jobs' where id = %s", [made["code"]]
    )
    return made


async def test_the_list_says_when_what_and_why_not(console: Console, seeded: dict[str, UUID]) -> None:
    tenant, platform = await console.browser(Role.TENANT_ADMIN, "acme"), await console.browser()
    await console.api.owner.execute(
        "select postmill.pause_queue('reports', 'the <b>printer</b>', null, 'ada')"
    )
    page = await tenant.get("/t/acme/triggers")
    assert page.status_code == 200, page.text
    assert "At 02:30 every day, Europe/Berlin" in page.text
    assert "user.*" in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{7*7}}" in page.text
    assert "<script>alert" not in page.text
    assert "the target queue reports is paused (the &lt;b&gt;printer&lt;/b&gt;)" in page.text
    assert "never fired" in page.text
    assert "Of others" not in page.text
    whole = (await platform.get("/ops/triggers")).text
    assert "Of others" in whole
    assert "no live worker runs report" in whole
    assert (await platform.get("/ops/triggers?type=event")).text.count('id="trigger-') == 1
    assert "The filter hides all" in (await platform.get("/ops/triggers?definition=nope")).text
    await console.api.owner.execute("select postmill.resume_queue('reports')")
    part = await tenant.get("/t/acme/triggers?_part=list")
    assert part.status_code == 200
    assert "<h1>" not in part.text
    assert "is paused" not in part.text


async def test_a_form_is_tried_and_keeps_what_was_typed(console: Console, seeded: dict[str, UUID]) -> None:
    client = await console.browser(Role.TENANT_ADMIN, "acme")
    new = "/t/acme/triggers/new"
    typed = {
        "trigger_type": "schedule",
        "label": "</textarea>",
        "definition_key": "nope",
        "cron_expr": "61 * * * *",
        "payload_template": '{"a": "{{ 7*7 }}", "b": "{{ nope.x }}"}',
        "jitter_seconds": "two",
        "act": "save",
    }
    wrong = await sent(client, new, new, **typed)
    assert wrong.status_code == 422
    assert "is a whole number, not &#39;two&#39;" in wrong.text
    assert "{{ 7*7 }}" in wrong.text
    assert 'value="&lt;/textarea&gt;"' in wrong.text
    wrong = await sent(client, new, new, **typed | {"jitter_seconds": "2"})
    assert wrong.status_code == 422
    assert 'id="e-cron_expr"' in wrong.text
    assert 'id="e-payload_template"' in wrong.text
    right = typed | {
        "jitter_seconds": "0",
        "cron_expr": "30 2 * * *",
        "timezone": "Europe/Berlin",
        "definition_key": "report",
        "payload_template": '{"day": "{{ schedule.date }}"}',
        "label": "Made here",
    }
    tried = await sent(client, new, new, **right | {"act": "try"})
    assert tried.status_code == 200, tried.text
    assert tried.text.count("<tr><td") == 10
    assert "&#34;day&#34;: &#34;20" in tried.text
    assert "Nothing was saved." in tried.text
    event = right | {"trigger_type": "event", "event_name": "order.paid", "sample": '{"id": "<i>7</i>"}',
                     "payload_template": '{"id": "{{ event.id }}", "x": "{{ event.nope }}"}', "act": "try"}  # fmt: skip
    tried = await sent(client, f"{new}?type=event", new, **event)
    assert "No job would be made:" in tried.text
    assert "payload_template.x" in tried.text
    tried = await sent(client, new, new, **event | {"payload_template": '{"id": "{{ event.id }}"}'})
    assert "&#34;id&#34;: &#34;&lt;i&gt;7&lt;/i&gt;&#34;" in tried.text
    saved = await sent(client, new, new, **right)
    assert saved.status_code == 303, saved.text
    detail = (await client.get(saved.headers["location"])).text
    assert "Made here was saved." in detail
    edit = saved.headers["location"] + "/edit"
    form = (await client.get(edit)).text
    seen = form.partition('name="seen" value="')[2].partition('"')[0]
    changed = right | {"label": "Renamed", "seen": seen, "missed": "all", "is_enabled": "yes"}
    assert (await sent(client, edit, edit, **changed)).status_code == 303
    stale = await sent(client, edit, edit, **changed)
    assert stale.status_code == 409
    assert "was changed by somebody else" in stale.text
    assert "missed runs are made up for" in (await client.get(saved.headers["location"])).text


async def test_roles_and_scopes(console: Console, seeded: dict[str, UUID]) -> None:
    viewer = await console.browser(Role.VIEWER, "acme")
    operator = await console.browser(Role.OPERATOR, "acme")
    admin = await console.browser(Role.TENANT_ADMIN, "acme")
    one = f"/t/acme/triggers/{seeded['nightly']}"
    assert (await viewer.get("/t/acme/triggers")).status_code == 200
    assert "Run now" not in (await viewer.get(one)).text
    assert (await viewer.get("/t/acme/triggers/new")).status_code == 403
    page = (await operator.get(one)).text
    assert "Run now" in page
    assert "/pause" not in page
    assert (await admin.get(f"/t/acme/triggers/{seeded['theirs']}")).status_code == 404
    assert (await sent(admin, one, f"/t/acme/triggers/{seeded['theirs']}/pause")).status_code == 404
    code = (await admin.get(f"/t/acme/triggers/{seeded['code']}")).text
    assert "Declared in code, in the module app.jobs" in code
    assert "Edit" not in code
    assert (await admin.get(f"/t/acme/triggers/{seeded['code']}/edit")).status_code == 409
    ran = await sent(operator, one, f"{one}/run")
    assert ran.status_code == 303
    assert "was made." in (await operator.get(one)).text
    assert (await sent(operator, one, f"{one}/pause")).status_code == 403
    assert (await sent(admin, one, f"{one}/pause")).status_code == 303
    assert "Nightly is paused." in (await admin.get(one)).text
    assert (await sent(admin, one, f"{one}/resume")).status_code == 303
    log = await console.api.rows(
        "select action, result, address from postmill.audit_log where target = %s order by at",
        str(seeded["nightly"]),
    )
    assert [(action, result) for action, result, _ in log[1:]] == [
        ("triggers.run", "done"), ("triggers.change", "done"), ("triggers.change", "done"),
    ]  # fmt: skip
    assert {address for *_, address in log[1:]} == {"127.0.0.1"}


async def test_a_window_is_made_up_for_once(console: Console, seeded: dict[str, UUID]) -> None:
    client = await console.browser(Role.TENANT_ADMIN, "acme")
    one = f"/t/acme/triggers/{seeded['nightly']}"
    until = datetime.now(UTC).replace(microsecond=0)
    days = [until - timedelta(days=n) for n in range(5, -1, -1)]
    # Three that were left out together stand in the history as one.
    await console.api.owner.execute(
        """insert into postmill.tick (trigger_id, due, tenant_id, outcome, detail, fired_at, last_due, ticks)
           select %s, min(d), (select tenant_id from postmill.trigger where id = %s), 'skipped',
                  'missed, and missed ticks are left out', postmill.now(), max(d), 3
             from unnest(%s::timestamptz[]) d""",
        [seeded["nightly"], seeded["nightly"], await _dues(console, seeded["nightly"], days[0])],
    )
    window = {"since": days[0].isoformat(), "until": until.isoformat()}
    plan = await client.get(f"{one}/backfill", params=window)
    assert "5 jobs would be made" in plan.text, plan.text
    missing = await sent(client, f"{one}/backfill", f"{one}/backfill", **window)
    assert missing.status_code == 422
    assert 'id="e-reason"' in missing.text
    done = await sent(client, f"{one}/backfill", f"{one}/backfill", **window, reason="the cellar was flooded")
    assert done.status_code == 303, done.text
    page = (await client.get(one)).text
    assert "Backfilled: 5 enqueued." in page
    again = await client.get(f"{one}/backfill", params=window)
    assert "0 jobs would be made" in again.text
    assert "5 due moments of the window made jobs" in again.text
    ticks = await console.api.rows(
        "select outcome, detail, ticks, job_id is not null from postmill.tick where trigger_id = %s order by due",
        seeded["nightly"],
    )
    assert ticks == [("enqueued", "backfilled", 1, True)] * 5
    days_made = await console.api.rows(
        "select payload ->> 'day' from postmill.job where source = 'schedule' order by id"
    )
    assert len({day for (day,) in days_made}) == 5
    wrong = await client.get(f"{one}/backfill?since=yesterday&until=2026-01-01")
    assert wrong.status_code == 422
    assert "is a moment such as" in wrong.text


async def _dues(console: Console, id: UUID, since: datetime) -> list[datetime]:
    found = await adrive(console.api.owner, triggers.show(id))
    return [run.due for run in triggers._runs(triggers.schedule_of(found), since, 3)]
