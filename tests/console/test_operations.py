"""Bulk operations on pages: the wizard without a script, the list, one of them, who may what, who sees what."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import pytest

from postmill.bind import adrive
from postmill.console.bulk.progress import Line
from postmill.domain.access import Role
from postmill.operate import operations as acts
from tests.console.harness import Console

pytestmark = pytest.mark.asyncio(loop_scope="module")

TYPES = """select * from postmill.register_job_types(
    '[{"key": "mail", "max_attempts": 1}, {"key": "asked", "replay_class": "ask"}]')"""
BURY = """
with gone as (delete from postmill.ready where id = any(%s) returning *)
insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, attempts, failed_at,
       error_class, error_message)
select g.id, j.tenant_id, g.queue, g.lane, g.priority, 1, 1, 0, 'quota', 1, postmill.now(), 'QuotaExceeded', '<b>no</b>'
  from gone g join postmill.job j on j.id = g.id"""

HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')


async def bury(console: Console, n: int, tenant: UUID, job_type: str = "mail") -> list[UUID]:
    owner = console.api.owner
    await owner.execute(TYPES)
    rows = await owner.execute(
        "select postmill.enqueue(%s, jsonb_build_object('n', g), tenant => %s) from generate_series(1, %s) g",
        [job_type, tenant, n],
    )
    made = [row[0] for row in await rows.fetchall()]
    await owner.execute(BURY, [made])
    return made


def form(page: httpx.Response, method: str = "get") -> dict[str, Any]:
    """The hidden fields of the last form of that kind."""
    assert page.status_code == 200, page.text[:2000]
    text = page.text.rpartition(f'<form class="stack" method="{method}"')[2] or page.text
    if method == "get" and '<form method="get" action="/ops/ops-log/new">' in page.text:
        text = page.text.rpartition('<form method="get" action="/ops/ops-log/new">')[2]
    found: dict[str, Any] = {}
    for name, escaped in HIDDEN.findall(text.partition("</form>")[0]):
        value = html.unescape(escaped)
        found[name] = [*found[name], value] if isinstance(found.get(name), list) else value
    return found


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


async def test_from_a_query_to_a_running_replay(console: Console) -> None:
    """Five plain forms: nothing is kept on the server between them, and what came in meanwhile is not meant."""
    acme, other = await console.api.tenant("acme"), await console.api.tenant("other")
    await bury(console, 5, acme)
    await bury(console, 2, other)
    await bury(console, 1, other, "asked")
    client = await console.browser()
    new = "/ops/ops-log/new"
    scope = await client.get(new, params={"q": "state:dead_letter"})
    assert "8 jobs match." in scope.text
    state = form(scope)
    await bury(console, 1, acme)
    impact = await client.get(new, params={**state, "step": "impact"})
    for text in ("7 of 8 that match will be replayed; 1 is left as it is", "QuotaExceeded",
                 "are of job types for which somebody must be asked first",
                 ">acme<", "v1"):  # fmt: skip
        assert text in impact.text, text
    how = await client.get(new, params={**form(impact), "step": "how"})
    assert 'name="priority" inputmode="numeric" pattern="-?[0-9]+" size="8" value="1000"' in how.text
    canary = await client.get(
        new,
        params={**form(how), "rate": "20", "ask": "on", "fair": "on", "priority": "500", "step": "canary"},
    )
    confirm = await client.get(new, params={**form(canary), "canary": "2", "stop": "50", "step": "confirm"})
    for text in ("At most 20 jobs a second, tenants take turns.", "paused when more than 50 % fail",
                 "They come behind live traffic", "It can be undone for 10 s.", 'data-confirm-count="8"'):  # fmt: skip
        assert text in confirm.text, text
    fields = form(confirm, "post")
    assert fields["step"] == "confirm"
    wrong = await client.post(new, data={**fields, "reason": " ", "count": "7"})
    assert wrong.status_code == 422
    assert "Say why" in wrong.text
    assert "Type the number of jobs" in wrong.text
    begun = await client.post(new, data={**fields, "reason": "the <i>flood</i>", "count": "8"})
    assert begun.status_code == 303, begun.text
    page = await client.get(begun.headers["location"])
    for text in ("Undo", "Nothing was done yet", "the &lt;i&gt;flood&lt;/i&gt;", "the first 2, then it waits",
                 "paused above 50 %", "0 of 8 enqueued again", "Waiting",
                 f"op:{begun.headers['location'].rpartition('/')[2]}"):  # fmt: skip
        assert text in page.text, text
    id = UUID(begun.headers["location"].rpartition("/")[2])
    row = await (await console.api.owner.execute(
        "select kind, total, priority, rate, canary, stop_ratio, fair, confirm, reason, start_at > created_at"
        " from postmill.operation where id = %s", [id])).fetchone()  # fmt: skip
    assert row == ("replay", 8, 500, 20.0, 2, 0.5, True, True, "the <i>flood</i>", True)
    listed = await client.get("/ops/ops-log")
    assert f'href="/ops/ops-log/{id}"' in listed.text
    assert "has not begun yet" in listed.text
    part = await client.get(f"/ops/ops-log/{id}", params={"_part": "progress"})
    assert "<html" not in part.text
    same = await client.get("/ops/ops-log", params={"_part": "list", "open": "on"})
    assert str(id) in same.text
    undone = await client.post(
        f"/ops/ops-log/{id}/abort", data={"csrf": fields["csrf"], "undo": "on", "reason": "too soon"}
    )
    assert undone.status_code == 303
    said = await client.get(undone.headers["location"])
    assert "It is undone: nothing had been done yet." in said.text
    assert str(id) not in (await client.get("/ops/ops-log", params={"open": "on"})).text
    # A replay has finished when its new jobs have ended; before that all are enqueued.
    ended = replace(await adrive(console.api.owner, acts.operation(id)), status="finished", stage="rest")
    for results, told in (
        (None, "all enqueued"),
        ({"succeeded": 3, "queued": 2}, "all enqueued, 2 jobs have not ended"),
        ({"succeeded": 5}, "finished: all have ended"),
    ):
        assert Line.of(ended, None, results).standing == told
    again = await client.post(f"/ops/ops-log/{id}/pause", data={"csrf": fields["csrf"]})
    assert "It has ended already." in (await client.get(again.headers["location"])).text


async def test_what_it_is_about_and_what_can_be_undone(console: Console) -> None:
    """The count is of those that fit; the actions follow the state; an undo that would not undo all is refused."""
    owner = console.api.owner
    acme = await console.api.tenant("acme")
    ids = await bury(console, 5, acme)
    await owner.execute("select * from postmill.door_replay_jobs(%s)", [ids[:2]])
    client = await console.browser()
    new, chosen = "/ops/ops-log/new", {"id": [str(id) for id in ids]}
    told = "3 of 5 that match will be replayed; 2 were replayed already."
    scope = await client.get(new, params=chosen)
    assert told in scope.text
    impact = await client.get(new, params={**chosen, "step": "impact"})
    assert told in impact.text
    assert "Straight to: Confirm" in impact.text
    confirm = await client.get(new, params={**chosen, "step": "confirm"})
    assert told in confirm.text
    assert "Replay (3)</button>" in confirm.text
    assert "Reason (required)" in confirm.text
    once_more = await client.get(new, params={**chosen, "step": "confirm", "again": "on"})
    assert "Replay (5)</button>" in once_more.text
    # Of those in the right state it leaves some for other reasons, too, until it is told otherwise.
    await owner.execute("update postmill.job_definition set replay_class = 'ask' where key = 'mail'")
    asks = await client.get(new, params={**chosen, "step": "impact"})
    assert "0 of 5 that match will be replayed; 2 were replayed already; 3 are left as they are" in asks.text
    assert "choose otherwise at How" in (await client.get(new, params={**chosen, "step": "confirm"})).text
    assert "choose otherwise at How" in asks.text
    # Nothing would be done: nothing leads on but to where that can be changed.
    assert "On to:" not in asks.text
    assert 'value="how">Choose otherwise</button>' in asks.text
    none = await client.get(
        new, params={"act": "cancel", "step": "impact", **chosen}
    )  # dead letters: nothing is canceled
    assert "in a state in which this does nothing" in none.text
    assert "On to:" not in none.text
    away = await client.get(
        new, params={"act": "cancel", "q": "id:00000000-0000-7000-8000-000000000000", "step": "impact"}
    )
    assert away.status_code == 303
    assert "step=scope" in away.headers["location"]
    asked = await client.get(new, params={**chosen, "step": "confirm", "ask": "on"})
    assert "Replay (3)</button>" in asked.text
    await owner.execute("update postmill.job_definition set replay_class = 'safe' where key = 'mail'")
    for act in ("replay", "retry", "cancel", "discard", "priority", "move", "run_at", "tag"):
        for step in ("scope", "impact", "how", "canary", "confirm"):
            more = {"priority": "5", "queue": "default", "run_at": "2030-02-16T10:30", "tags": "vip"}
            page = await client.get(new, params={**chosen, **more, "act": act, "step": step})
            assert page.text.count(" autofocus") == 1, (act, step)
    fresh = await client.get(new)
    assert fresh.text.count(" autofocus") == 1
    nothing = await client.get(
        new, params={**chosen, "act": "cancel", "step": "confirm", "id": [str(ids[4])]}
    )
    assert "Every job that matches is in a state in which this does nothing." in nothing.text
    fields = {**form(confirm, "post"), **chosen}
    refused = await client.post(new, data={**fields, "act": "cancel", "reason": "x", "id": [str(ids[4])]})
    assert refused.status_code == 422

    begun = await client.post(new, data={**fields, "reason": "fixed"})
    assert begun.status_code == 303, begun.text
    path, id = begun.headers["location"], UUID(begun.headers["location"].rpartition("/")[2])
    actions = await client.get(path, params={"_part": "actions"})
    for text in ("Undo", "Pause", "Nothing was done yet", 'name="undo" value="on"'):
        assert text in actions.text, text
    undo = {"csrf": fields["csrf"], "undo": "on", "reason": "too soon"}
    late = "It is too late to undo it"
    for change, back in (
        ("done = 1", "done = 0"),
        ("start_at = postmill.now() - interval '1 s'", "start_at = postmill.now() + interval '1 h'"),
    ):
        await owner.execute(f"update postmill.operation set {change} where id = %s", [id])
        actions = await client.get(path, params={"_part": "actions"})
        assert "Undo" not in actions.text
        assert "Abort" in actions.text
        answer = await client.post(f"{path}/abort", data=undo)
        assert late in (await client.get(answer.headers["location"])).text
        row = await (
            await owner.execute("select status from postmill.operation where id = %s", [id])
        ).fetchone()
        assert row == ("running",)
        await owner.execute(f"update postmill.operation set {back} where id = %s", [id])
    answer = await client.post(f"{path}/abort", data=undo)
    assert "It is undone" in (await client.get(answer.headers["location"])).text
    actions = await client.get(path, params={"_part": "actions"})
    for text in ("Undo", "Pause", "Abort", "Nothing was done yet"):
        assert text not in actions.text, text


async def test_a_selection_and_the_other_acts(console: Console) -> None:
    acme = await console.api.tenant("acme")
    ids = await bury(console, 3, acme)
    client = await console.browser()
    new = "/ops/ops-log/new"
    token = form(await client.get("/ops/ops-log/new", params={"q": "state:dead_letter"}))  # any page of ours
    page = await client.get("/ops/queues")
    csrf = page.text.partition('name="csrf" value="')[2].partition('"')[0]
    assert token
    to = await client.post(new, data={"csrf": csrf, "act": "discard", "id": [str(id) for id in ids]})
    scope = await client.get(to.headers["location"])
    assert "3 chosen jobs" in scope.text
    assert "3 jobs match." in scope.text
    confirm = await client.get(to.headers["location"].replace("step=scope", "step=confirm"))
    assert "Canary" not in confirm.text
    fields = {name: value for name, value in form(confirm, "post").items() if name != "id"}
    begun = await client.post(new, data={**fields, "id": [str(id) for id in ids], "reason": "spam"})
    assert begun.status_code == 303, begun.text
    assert "3 chosen jobs" in (await client.get(begun.headers["location"])).text
    for act, missing in (("priority", "Which priority?"), ("move", "Which queue?"), ("run_at", "When?")):
        back = await client.get(new, params={"act": act, "q": "state:dead_letter", "step": "confirm"})
        assert back.status_code == 422
        assert missing in back.text
        assert 'aria-current="step"><a' not in back.text
    moved = await client.get(
        new, params={"act": "run_at", "q": "type:mail", "run_at": "2030-02-16T10:30", "step": "confirm"}
    )
    assert "2030-02-16 10:30:00 UTC" in moved.text
    for bad, where in (
        ({"q": "stat:dead"}, "unknown term"), ({"q": ""}, "Which jobs"),
        ({"q": "state:dead_letter", "act": "nope"}, "must be one of"),
        ({"q": "state:dead_letter", "run_at": "noon"}, "must be a moment"), ({"q": "state:succeeded"}, "No job matches"),
    ):  # fmt: skip
        answer = await client.get(new, params=bad)
        assert where in html.unescape(answer.text), (bad, answer.text[:500])


async def test_who_may_and_who_sees(console: Console) -> None:
    acme = await console.api.tenant("acme")
    await bury(console, 2, acme)
    operator = await console.browser(Role.OPERATOR, "acme")
    new = "/t/acme/ops-log/new"
    scope = await operator.get(new, params={"q": "state:dead_letter"})
    assert "By tenant" not in scope.text
    for act, code in (("discard", 403), ("move", 403)):
        assert (await operator.get(new, params={"q": "state:dead_letter", "act": act})).status_code == code
    confirm = await operator.get(new, params={"q": "state:dead_letter", "step": "confirm"})
    fields = form(confirm, "post")
    count = re.search(r'data-confirm-count="(\d+)"', confirm.text)
    begun = await operator.post(new, data={**fields, "reason": "fixed", "count": count[1] if count else ""})
    assert begun.status_code == 303, begun.text
    path = begun.headers["location"]
    assert (await operator.get(path)).status_code == 200
    await console.api.tenant("other")
    stranger = await console.browser(Role.OPERATOR, "other")
    assert (await stranger.get(path.replace("/t/acme", "/t/other"))).status_code == 404
    viewer = await console.browser(Role.VIEWER, "acme")
    seen = await viewer.get(path)
    assert "Undo" not in seen.text
    token = seen.text.partition('name="csrf" value="')[2].partition('"')[0]
    assert (await viewer.post(f"{path}/abort", data={"csrf": token})).status_code == 403
    platform = await console.browser()
    assert ">acme<" in (await platform.get("/ops/ops-log")).text
    denied = await (await console.api.owner.execute(
        "select count(*) from postmill.audit_log where result = 'denied' and action = 'dead.replay'")).fetchone()  # fmt: skip
    assert denied == (1,)
