"""Access: keys that are shown once, sessions that are ended, links, roles, and who is told of what."""

from __future__ import annotations

import re

import pytest

from postmill.console.pages.access import rules_of
from postmill.domain.access import Role
from postmill.domain.settings_escalation import EscalationSettings
from tests.console.harness import Console, anybody, sent

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = re.compile(r"pm_[A-Za-z0-9_-]{30,}")


async def test_a_key_is_shown_once_and_revoked(console: Console) -> None:
    client = await console.browser(Role.TENANT_ADMIN, "acme")
    page, path = "/t/acme/settings", "/t/acme/settings/keys"
    wrong = await sent(client, page, path, name="<b>x</b>", role="super_admin", expires="soon")
    assert wrong.status_code == 422
    assert 'id="e-expires"' in wrong.text
    assert 'value="&lt;b&gt;x&lt;/b&gt;"' in wrong.text
    assert "is none of the roles" in (await sent(client, page, path, name="x", role="king")).text
    denied = await sent(client, page, path, name="x", role="super_admin")
    assert denied.status_code == 403
    past = await sent(client, page, path, name="x", role="viewer", expires="2001-01-01")
    assert 'id="e-expires"' in past.text
    made = await sent(client, page, path, name="<b>deploy</b>", role="operator")
    assert made.status_code == 200, made.text
    assert made.headers["cache-control"] == "no-store"
    [key] = set(SECRET.findall(made.text))
    again = await client.get(page)
    assert again.headers["cache-control"] == "no-store"
    assert key not in again.text
    assert "&lt;b&gt;deploy&lt;/b&gt;" in again.text
    api = anybody(console.api)
    assert (await api.get("/api/v1/jobs", headers={"Authorization": f"Bearer {key}"})).status_code == 200
    id = again.text.partition('id="key-')[2].partition('"')[0]
    other = await console.browser(Role.TENANT_ADMIN, "other")
    assert (await sent(other, "/t/other/settings", f"/t/other/settings/keys/{id}/revoke")).status_code == 404
    assert (await sent(client, page, f"{path}/{id}/revoke", reason="leaked")).status_code == 303
    assert (await api.get("/api/v1/jobs", headers={"Authorization": f"Bearer {key}"})).status_code == 401
    assert "deploy" not in (await client.get(page)).text
    assert "revoked" in (await client.get(f"{page}?keys=all")).text


async def test_somebody_is_invited_and_sent_away(console: Console) -> None:
    client = await console.browser(Role.TENANT_ADMIN, "acme")
    page = "/t/acme/settings"
    assert 'id="e-person"' in (await sent(client, page, f"{page}/links", link_role="viewer")).text
    made = await sent(client, page, f"{page}/links", person="eve<i>", link_role="viewer")
    assert made.status_code == 200, made.text
    link = re.search(r"/login\?token=([\w-]+)", made.text)
    assert link is not None
    await sent(client, page, f"{page}/keys", name="nightly", role="viewer")
    platform = await sent(await console.browser(), "/ops/settings", "/ops/settings/links", person="chief", link_role="viewer",
                          link_tenant="acme2")  # fmt: skip
    assert platform.status_code in (200, 422)
    members = (await client.get(page)).text.partition(">Members<")[2].partition("Console sessions")[0]
    assert re.search(r"eve&lt;i&gt;</.*?>invited<", members, re.DOTALL)
    assert re.search(r"nightly</.*?>API key<", members, re.DOTALL)
    assert "chief" not in members
    eve = anybody(console.api)
    assert (await eve.get(f"/login?token={link[1]}")).headers["location"] == "/"
    assert (await eve.get("/t/acme/triggers")).status_code == 200
    assert (await eve.get(page)).status_code == 403
    shown = (await client.get(page)).text
    assert "eve&lt;i&gt;" in shown
    assert ">invited<" not in shown
    row = shown.partition("Console sessions")[2].partition("eve&lt;i&gt;")[0].rpartition('id="login-')[2]
    assert (await sent(client, page, f"{page}/logins/{row.partition(chr(34))[0]}/end")).status_code == 303
    assert (await eve.get("/t/acme/triggers")).status_code == 303
    log = await console.api.rows(
        "select action from postmill.audit_log where action in ('logins.link', 'logins.end') and via = 'console'"
        " and actor_id = 'tenant_admin@acme' and result = 'done' order by at"
    )
    assert [action for (action,) in log][-2:] == ["logins.link", "logins.end"]


async def test_both_scopes(console: Console) -> None:
    await console.api.tenant("acme")
    platform = await console.browser()
    page = await platform.get("/ops/settings")
    assert "let in from everywhere" in page.text
    assert page.status_code == 200
    assert "Nobody is told" in page.text
    assert '<option value="super_admin">' in page.text
    assert "triggers.write" in page.text
    made = await sent(platform, "/ops/settings", "/ops/settings/keys", name="t", role="viewer", tenant="acme")
    assert len(set(SECRET.findall(made.text))) == 1
    lost = await sent(platform, "/ops/settings", "/ops/settings/keys", name="t", role="viewer", tenant="nope")
    assert 'id="e-tenant"' in lost.text
    nowhere = await sent(platform, "/ops/settings", "/ops/settings/keys", name="t", role="viewer")
    assert 'id="e-tenant"' in nowhere.text
    own = (await (await console.browser(Role.TENANT_ADMIN, "acme")).get("/t/acme/settings")).text
    assert '<option value="super_admin">' not in own
    assert "is the platform's to set" in own.replace("&#39;", "'")
    for role in (Role.VIEWER, Role.OPERATOR):
        assert (await (await console.browser(role, "acme")).get("/t/acme/settings")).status_code == 403


async def test_rules_hold_no_secret() -> None:
    settings = EscalationSettings.model_validate(
        {
            "pagerduty_key": "k" * 32,
            "channels": {"lead": {"kind": "slack", "url": "https://hooks.test/secret"}},
            "policies": {"day": {"steps": "pagerduty, lead after 15m"}},
            "kinds": {"sla_breach": "day"},
        }
    )
    rules = rules_of(settings)
    assert ("sla_breach", "day", "pagerduty") in rules["kinds"]
    assert rules["policies"] == [("day", ["pagerduty", "lead after 15m"])]
    assert "secret" not in str(rules)
    assert "kkkk" not in str(rules)
