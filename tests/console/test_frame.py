"""What all pages share: who comes in where, errors as pages, forms that are ours, what is sent again."""

from __future__ import annotations

import re

import pytest

from postmill.api.cookies import COOKIE
from postmill.domain.access import Role
from tests.console.harness import Console, anybody, sent
from tests.console.reading import Read
from tests.support.api import BASE

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_nobody_is_sent_to_the_login_and_back(console: Console) -> None:
    client = anybody(console.api)
    answer = await client.get("/ops/queues?sort=name")
    wanted = "/login?next=%2Fops%2Fqueues%3Fsort%3Dname"
    assert (answer.status_code, answer.headers["location"]) == (303, wanted)
    form = await client.get(wanted)
    assert 'name="next" value="/ops/queues?sort=name"' in form.text
    wrong = await client.post("/login", data={"token": "pm_wrong", "next": "/ops/queues?sort=name"})
    assert wrong.status_code == 401
    assert "opens nothing" in wrong.text
    token = await console.token()
    answer = await client.post("/login", data={"token": token, "next": "/ops/queues?sort=name"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/ops/queues?sort=name")
    assert (await client.get("/ops/queues")).status_code == 200
    used = await anybody(console.api).get(f"/login?token={token}", headers={"accept": "text/html"})
    assert used.status_code == 401
    assert "This link was used" in used.text
    assert (await anybody(console.api).get("/ops/queues?_part=list")).status_code == 401


EVIL = ["//evil.test", "https://evil.test", "/\\evil.test", "/ops/\\evil", "javascript:alert(1)", "/t/\nx"]


@pytest.mark.parametrize("evil", EVIL)
async def test_a_login_leads_to_pages_of_ours_only(console: Console, evil: str) -> None:
    token = await console.token()
    answer = await anybody(console.api).post("/login", data={"token": token, "next": evil})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


async def test_the_first_page_is_ones_own(console: Console) -> None:
    platform, tenant = await console.browser(), await console.browser(Role.VIEWER, "acme")
    assert (await platform.get("/")).headers["location"] == "/ops"
    assert (await tenant.get("/")).headers["location"] == "/t/acme"


async def test_another_scope_is_not_there(console: Console) -> None:
    await console.api.tenant("other")
    tenant = await console.browser(Role.TENANT_ADMIN, "acme")
    for path in ("/ops/queues", "/t/other/jobs", "/t/nope/jobs"):
        answer = await tenant.get(path)
        assert answer.status_code == 404, path
        assert "<h1>Nothing here</h1>" in answer.text
        # No dead end: the frame is that of one's own scope, with its pages and its search.
        read = Read(answer.text)
        assert {"/t/acme", "/t/acme/jobs", "/t/acme/dead"} <= set(read.links), path
        assert 'role="search" method="get" action="/t/acme/jobs"' in answer.text
        assert read.ids["pages"] == 1
        assert answer.text.count("Request <span") == 1
    auditor = await console.browser(Role.AUDITOR)
    answer = await auditor.get("/ops/queues")
    assert answer.status_code == 403
    assert "may not queues.read" in answer.text
    assert "/ops/audit" in Read(answer.text).links
    nowhere = await (await console.browser()).get("/ops/nope/<b>")
    assert nowhere.status_code == 404
    assert "There is no page /ops/nope/&lt;b&gt;." in nowhere.text
    assert "/ops/jobs" in Read(nowhere.text).links


REFUSED: list[tuple[str, str, dict[str, str]]] = [
    ("/ops/jobs?q=state:failed&col=state", "/ops/jobs/act", {"act": "melt"}),
    ("/ops/triggers/new?event=x", "/ops/triggers/new", {"label": ""}),
    ("/ops/queues?sort=name", "/ops/queues/nope/pause", {}),
]


@pytest.mark.parametrize(("page", "act", "fields"), REFUSED, ids=[one[1] for one in REFUSED])
async def test_a_refused_act_leads_back_to_its_page(
    console: Console, page: str, act: str, fields: dict[str, str]
) -> None:
    """Links and forms of what is shown are of the page on which the form stood: the act's path is no page."""
    client = await console.browser()
    answer = await sent(client, page, act, **fields)
    assert answer.status_code in (404, 422), answer.text
    backs = set(re.findall(r'name="back" value="([^"]*)"', answer.text))
    assert backs == {page.replace("&", "&amp;")}
    for link in Read(answer.text).links:
        if link.partition("?")[0] == act and act != page.partition("?")[0]:
            raise AssertionError(f"{link} leads to an act")


async def test_what_every_page_says_to_browsers(console: Console) -> None:
    await console.api.owner.execute("insert into postmill.queue (name) values ('idle')")
    client = await console.browser()
    answer = await client.get("/ops/queues")
    assert "trusted-types console" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "private, no-cache"
    again = await client.get("/ops/queues?_part=list")
    assert "<html" not in again.text
    assert "<table class=" in again.text
    same = await client.get("/ops/queues?_part=list", headers={"If-None-Match": again.headers["etag"]})
    assert (same.status_code, same.text) == (304, "")
    assert (await client.get("/ops/queues?_part=nope")).status_code == 404


async def test_pages_are_compressed_but_for_other_sites(console: Console) -> None:
    client = await console.browser()
    whole = await client.get("/ops/queues", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in whole.headers
    small = await client.get("/ops/queues")
    assert (small.headers["content-encoding"], small.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert int(small.headers["content-length"]) < len(whole.content) / 2
    assert "<h1>" in small.text
    # The length of what is compressed would tell another site of the secrets in the page.
    led = await client.get("/ops/queues", headers={"Sec-Fetch-Site": "cross-site"})
    assert "content-encoding" not in led.headers


async def test_a_form_needs_the_token_of_its_login(console: Console) -> None:
    client = await console.browser()
    path = "/ops/queues/nope/pause"
    assert (await client.post(path, data={"back": "/ops/queues"})).status_code == 403
    foreign = await client.post(path, data={"back": "/ops/queues"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code == 403
    answer = await sent(client, "/ops/queues", path)
    assert answer.status_code == 404
    assert (await client.post(path, json={})).status_code == 415


async def test_what_an_act_says_is_shown_once(console: Console) -> None:
    await console.api.owner.execute("insert into postmill.queue (name) values ('<mail>')")
    client = await console.browser()
    answer = await sent(client, "/ops/queues", "/ops/queues/%3Cmail%3E/pause")
    assert (answer.status_code, answer.headers["location"]) == (303, "/ops/queues"), answer.text
    assert "&lt;mail&gt; is paused." in (await client.get("/ops/queues")).text
    assert "is paused." not in (await client.get("/ops/queues")).text


async def test_choices_are_kept_by_the_browser(console: Console) -> None:
    client = await console.browser()
    answer = await sent(client, "/ops/queues", "/ops/preferences", theme="dark", clock="local", interval="15")
    assert answer.status_code == 303
    page = (await client.get("/ops/queues")).text
    assert '<html lang="en" data-theme="dark">' in page
    assert 'data-interval="15"' in page
    refused = await sent(client, "/ops/queues", "/ops/preferences", theme="blue")
    assert refused.status_code == 422
    assert "must be one of auto, light, dark" in refused.text


async def test_logging_out(console: Console) -> None:
    client = anybody(console.api)
    await client.get(f"/login?token={await console.token()}")
    cookie = client.cookies[COOKIE]
    answer = await sent(client, "/ops/queues", "/logout")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    client.cookies.set(COOKIE, cookie, domain=BASE.partition("//")[2])
    assert (await client.get("/ops/queues")).status_code == 303
