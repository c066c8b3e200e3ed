"""The page Jobs: what it shows to whom, what a query finds, what is done to a selection, views and files."""

from __future__ import annotations

import csv
import io
import json
import re
from uuid import UUID

import pytest
import pytest_asyncio

from postmill.console.jobs.columns import COLUMNS
from postmill.domain.access import Role
from tests.console.harness import Console, sent
from tests.console.reading import Read
from tests.console.seen_jobs import Seen, heads, listed, see
from tests.support.jobs_in_states import StateMaker

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def seen(console: Console) -> Seen:
    return await see(console)


async def test_the_table_of_seed_3(console: Console, seen: Seen) -> None:
    """Cards, and for each job id, command, source, status, attempts, queued, start, finish, worker; its acts."""
    client = await console.browser(Role.TENANT_ADMIN, "acme")
    answer = await client.get("/t/acme/jobs")
    assert answer.status_code == 200
    text = answer.text
    assert listed(text) == sorted(seen.ids.values(), reverse=True)
    cards = text.partition('<ul class="cards tight"')[2].partition("</ul>")[0]
    assert re.findall(r'state%3A(\w+)"><span class="num">(\d+)', cards) == [
        ("queued", "3"), ("running", "1"), ("failed", "1"), ("dead_letter", "1")
    ]  # fmt: skip
    assert heads(text) == [
        "Job", "Job type", "State", "Error", "Queued", "Started", "Finished", "Attempts", "Queue", "Source", "Worker",
        "Actions",
    ]  # fmt: skip
    row = text.partition(f'<tr id="job-{seen.ids["dead_letter"]}"')[2].partition("</tr>")[0]
    for part in (
        "plain",
        "Dead letter",
        "max_retries_exceeded",
        "manual",
        "1/5",
        ">w1<",
        "ValueError",
        "retry:",
        "#attempts",
    ):
        assert part in row, part
    assert "cancel:" not in row
    assert f'value="cancel:{seen.ids["running"]}"' in text
    tabs = text.partition('id="part-tabs"')[2].partition("</nav>")[0]
    counts = dict(re.findall(r'id="tab-(\w+)".*?<span class="num muted">([\d,+]+)', tabs))
    assert counts == {
        "queued": "3", "running": "1", "scheduled": "1", "retrying": "0", "blocked": "0", "succeeded": "1", "failed": "1",
        "dead_letter": "1", "canceled": "1", "replayed": "0",
    }  # fmt: skip
    assert re.search('<figure [^>]*id="jobs-over-time"', text)
    assert "<script>" not in text
    assert " style=" not in text


async def test_what_a_query_shows(console: Console, seen: Seen) -> None:
    client = await console.browser(Role.TENANT_ADMIN, "acme")

    async def found(q: str) -> list[UUID]:
        answer = await client.get("/t/acme/jobs", params={"q": q})
        assert answer.status_code == 200, answer.text
        return listed(answer.text)

    assert await found("state:failed,dead_letter") == [seen.ids["dead_letter"], seen.ids["failed"]]
    assert await found("type:Bill.Send args.n:4242") == [seen.ids["order:4711"]]
    assert await found(f"id:{seen.other}") == []
    nothing = (await client.get("/t/acme/jobs", params={"q": "state:blocked"})).text
    assert "No job matches this query" in nothing
    # A value alone may be an argument that a type declares, but no secret, and for whom may see payloads.
    await console.api.owner.execute(
        """update postmill.job_definition set arg_schema = '{"properties": {"n": {"type": "integer"}, "s": {"type": "string"},
           "hush": {"type": "integer"}}}' where key = 'Bill.Send'"""
    )
    bare = (await client.get("/t/acme/jobs", params={"q": "1753"})).text
    assert re.findall(r'tag mono"[^>]*>([^<]+)', bare) == ["type:Bill.Send args.n:1753"]
    viewer = await console.browser(Role.VIEWER, "acme")
    unread = await viewer.get("/t/acme/jobs", params={"q": "1753"})
    assert unread.status_code == 200
    assert "No job has this id" in unread.text
    assert "type:Bill.Send" not in unread.text
    assert "Show all jobs" in nothing


async def test_what_is_pasted_leads_to_its_job(console: Console, seen: Seen) -> None:
    client = await console.browser(Role.TENANT_ADMIN, "acme")
    for q, name in (
        (str(seen.ids["failed"]).upper(), "failed"),
        ("order:4711", "order:4711"),
        ("b b", "b b"),
        (seen.ids["failed"].hex, "failed"),
        (f"{{{seen.ids['failed']}}}", "failed"),
        (seen.ids["failed"].urn, "failed"),
        (f"  {seen.ids['failed']}\t", "failed"),
        ('"order:4711"', "order:4711"),
    ):
        answer = await client.get("/t/acme/jobs", params={"q": q})
        assert (answer.status_code, answer.headers["location"]) == (303, f"/t/acme/jobs/{seen.ids[name]}"), q
    # What is of nobody, or of somebody else, says so: within the frame, with the way to the list.
    for q, status in ((str(seen.other), 404), (str(UUID(int=9)), 404), ("no-such-key", 200)):
        answer = await client.get("/t/acme/jobs", params={"q": q})
        assert answer.status_code == status, q
        assert f"there is no job {q}" in answer.text or "No job has this id or key" in answer.text
        assert "/t/acme/jobs" in Read(answer.text).links


async def test_a_query_that_is_wrong_says_where(console: Console, seen: Seen) -> None:
    client = await console.browser(Role.TENANT_ADMIN, "acme")
    answer = await client.get("/t/acme/jobs", params={"q": "state:failed typ:<b>"})
    assert answer.status_code == 422
    assert "at character 14: unknown term &#39;typ&#39;; did you mean type:?" in answer.text
    assert "state:failed <mark>typ</mark>:&lt;b&gt;" in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert "The query cannot be asked" in answer.text
    assert answer.text.count("unknown term") == 1
    # All that is wrong is told, each in its place: what no term is, and what stands for nothing here.
    answer = await client.get("/t/acme/jobs", params={"q": "type:Nope typ:b state:open op:ffffffff"})
    for place, why in ((6, "no job type"), (11, "unknown term"), (23, "unknown state"), (31, "no operation")):
        assert re.search(rf"at character {place}: [^<]*{why}", answer.text)
    viewer = await console.browser(Role.VIEWER, "acme")
    answer = await viewer.get("/t/acme/jobs", params={"q": "type:Bill.Send args.n:4242"})
    assert "your role may not read payloads" in answer.text
    answer = await client.get("/t/acme/jobs", params={"q": "type:Bill.Send args.hush:x"})
    assert "is secret in Bill.Send" in answer.text


async def test_columns_and_arguments(console: Console, seen: Seen) -> None:
    client = await console.browser(Role.TENANT_ADMIN, "acme")
    path = "/t/acme/jobs?q=type:Bill.Send&col=state&col=key&args=args.n, who.id, args.hush"
    answer = await client.get(path)
    assert heads(answer.text) == [
        "Job", "n", "who.id", "hush", "State", "Idempotency key", "Actions"
    ]  # fmt: skip
    row = answer.text.partition(f'<tr id="job-{seen.ids["order:4711"]}"')[2].partition("</tr>")[0]
    cells = re.findall(r'<td(?: [^>]*)? class="mono wrap">([^<]*)</td>', row)
    assert cells == ["4242", "ann", "[redacted]", "order:4711"]
    # Those that its type declares are offered, but no secret; nothing is offered of a query that cannot be asked.
    await console.api.owner.execute(
        """update postmill.job_definition set arg_schema = '{"properties": {"n": {"type": "integer"},
           "hush": {"type": "integer"}}}' where key = 'Bill.Send'"""
    )
    offered = (await client.get("/t/acme/jobs?q=type:Bill.Send")).text
    assert "args=args.n" in offered
    assert "args.hush" not in offered
    assert "Export as CSV" in offered
    wrong = (await client.get("/t/acme/jobs?q=n:1")).text
    assert "did you mean args.n: of type:Bill.Send?" in wrong
    assert "Export as CSV" not in wrong
    assert "all-matching" not in wrong
    assert answer.headers["cache-control"] == "no-store"
    for wrong in ("col=nope", "args=password", "args=a b", "args=a,b,c,d,e,f"):
        assert (await client.get(f"/t/acme/jobs?{wrong}")).status_code == 422, wrong
    viewer = await console.browser(Role.VIEWER, "acme")
    assert "4242" not in (await viewer.get(path)).text


async def test_every_column_has_its_cell(console: Console, seen: Seen) -> None:
    client = await console.browser(Role.SUPER_ADMIN)
    asked = "&".join(f"col={column.name}" for column in COLUMNS)
    text = (await client.get(f"/ops/jobs?{asked}")).text
    row = text.partition(f'<tr id="job-{seen.ids["order:4711"]}"')[2].partition("</tr>")[0]
    assert len(re.findall("<t[dh]", row)) == len(heads(text)) + 1 == len(COLUMNS) + 3
    assert ">order:4711<" in row


async def test_live_parts_keep_the_rows(console: Console, seen: Seen) -> None:
    client = await console.browser(Role.TENANT_ADMIN, "acme")
    page = (await client.get("/t/acme/jobs?q=state:failed")).text
    rows, fresh = (
        f"/t/acme/jobs?q=state:failed&_part={part}&"
        + re.search(rf'id="part-{part}"[^>]* data-with="([^"]+)"', page)[1].replace("&amp;", "&")  # type: ignore[index]
        for part in ("rows", "fresh")
    )
    # Whatever the query would find by now: these rows, as they are.
    assert listed((await client.get(rows)).text) == [seen.ids["failed"]]
    assert re.fullmatch(r'<template data-part="fresh">\s*</template>', (await client.get(fresh)).text)
    later = await (await StateMaker.begin(console.api.owner, console.api.tenants["acme"])).ended("failed")
    assert listed((await client.get(rows)).text) == [seen.ids["failed"]]
    assert "1 new – show" in (await client.get(fresh)).text
    assert listed((await client.get("/t/acme/jobs?q=state:failed")).text) == [later, seen.ids["failed"]]
    # All at once: no link says what was asked with.
    answer = await client.get(f"{rows}&{fresh.partition('?')[2]}&_part=summary&_part=tabs&_part=chart")
    names = ["rows", "fresh", "summary", "tabs", "chart"]
    assert re.findall('<template data-part="([a-z]+)">', answer.text) == names
    assert listed(answer.text) == [seen.ids["failed"]]
    assert "<html" not in answer.text
    assert not [link for link in Read(answer.text).links if "_row" in link or "_top" in link]
    await console.api.owner.execute("delete from postmill.outcome where job_id = %s", [later])
    await console.api.owner.execute("delete from postmill.job where id = %s", [later])


async def test_pages_by_their_last_job(console: Console, seen: Seen) -> None:
    api = console.api
    maker = await StateMaker.begin(api.owner, await api.tenant("many"))
    ids = [await maker.queued() for _ in range(120)]
    client = await console.browser(Role.VIEWER, "many")
    seen: list[UUID] = []
    path = "/t/many/jobs"
    while path:
        text = (await client.get(path)).text
        seen += listed(text)
        older = re.search(r'rel="next" href="([^"]+)"', text)
        path = "" if older is None else older[1].replace("&amp;", "&")
    assert seen == ids[::-1]
    assert ">Newer<" in text


async def test_what_is_done_to_a_selection(console: Console, seen: Seen) -> None:
    api = console.api
    maker = await StateMaker.begin(api.owner, await api.tenant("busy"))
    waiting, dead = [await maker.queued(), await maker.scheduled()], await maker.ended("dead_letter")
    done = await maker.ended("succeeded")
    client = await console.browser(Role.TENANT_ADMIN, "busy")
    act = "/t/busy/jobs/act"

    async def said(**fields: str | list[str]) -> str:
        answer = await sent(client, "/t/busy/jobs", act, **fields)
        assert answer.status_code == 303, answer.text
        page = (await client.get("/t/busy/jobs")).text
        return page.partition('<p class="flash')[2].partition(">")[2].partition("</p>")[0]

    ids = [*map(str, waiting), str(done)]
    assert await said(act="priority", id=ids, priority="7", reason="sooner") == (
        "Change priority: 2 jobs done; left as they are: 1 finished."
    )
    assert (
        await said(act="cancel", id=ids, reason="wrong")
        == "Cancel: 2 jobs done; left as they are: 1 finished."
    )
    assert await said(one=f"retry:{dead}") == "Retry: 1 job done."
    assert await said(act="replay", id=str(dead)) == "Replay: 0 jobs done; left as they are: 1 live."
    assert await said(act="discard") == "Nothing was chosen, so nothing was done."
    both = [str(await maker.queued()), str(dead)]
    assert await said(act="tag", id=both, tags="vip, night -old") == "Tag: 2 jobs done."
    assert await said(act="tag", id=both, tags="vip") == "Tag: 0 jobs done; left as they are: 2 unchanged."
    assert (await said(act="run_at", id=both, run_at="2040-01-01T08:00")).startswith(
        "Run at…: 1 job done; left"
    )
    for wrong in (
        {"act": "tag", "tags": "a,b'\"c"},
        {"act": "run_at", "run_at": "soon"},
        {"act": "move", "queue": "default"},
    ):
        assert (await sent(client, "/t/busy/jobs", act, id=both, **wrong)).status_code in (403, 422), wrong
    page = (await client.get("/t/busy/jobs?q=tag:vip&col=tags&col=state&density=compact")).text
    assert listed(page) == sorted(map(UUID, both), reverse=True)
    assert heads(page) == ["Job", "State", "Tags", "Actions"]
    assert page.count('href="/t/busy/jobs?q=tag%3Anight"') == 2
    assert 'class="table-wrap compact"' in page
    # Density and columns are of the address, so they go along with a query, and into a saved view.
    assert (
        'name="density" value="compact"'
        in page.partition("</form>")[0] + page.partition('for="query"')[2][:1500]
    )
    assert 'name="query" value="q=tag%3Avip&amp;col=tags&amp;col=state&amp;density=compact"' in page
    assert (await client.get("/t/busy/jobs?density=dense")).status_code == 422
    assert "Change queue" not in page
    platform = await console.browser()
    await console.api.owner.execute("insert into postmill.queue (name) values ('night')")
    answer = await sent(
        platform, "/ops/jobs?q=tag:vip", "/ops/jobs/act", act="move", id=both, queue="NIGHT", reason="later"
    )
    assert answer.status_code == 303
    assert "Change queue: 1 job done; left as they are: 1 finished." in (await platform.get("/ops/jobs")).text
    assert (await sent(client, "/t/busy/jobs", act, act="priority", id=ids)).status_code == 422
    assert (await sent(client, "/t/busy/jobs", act, act="melt", id=ids)).status_code == 422
    log = await api.rows(
        """select action, target, reason, via, actor_id from postmill.audit_log
            where tenant_id = %s and action ~ '^(jobs|dead)' order by id""", api.tenants["busy"])  # fmt: skip
    assert [row[:3] for row in log if row[0] not in ("jobs.priority", "jobs.tag", "jobs.run_at", "jobs.move")] == [
        *(("jobs.cancel", str(id), "wrong") for id in sorted(waiting)), ("jobs.retry", str(dead), None)
    ]  # fmt: skip
    assert {row[3] for row in log} == {"console"}
    assert [row[0] for row in log].count("jobs.tag") == 2
    viewer = await console.browser(Role.VIEWER, "busy")
    assert ">Cancel<" not in (await viewer.get("/t/busy/jobs")).text
    assert (await sent(viewer, "/t/busy/jobs", act, act="cancel", id=ids)).status_code == 403
    other = await console.browser(Role.TENANT_ADMIN, "acme")
    answer = await sent(other, "/t/acme/jobs", "/t/acme/jobs/act", act="discard", id=str(dead))
    assert answer.status_code == 303
    assert "1 unknown" in (await other.get("/t/acme/jobs")).text


async def test_all_that_match_leads_to_an_operation(console: Console) -> None:
    client = await console.browser()
    text = (await client.get("/ops/jobs?q=state:failed")).text
    assert 'href="/ops/ops-log/new?q=state%3Afailed&amp;act=retry"' in text


async def test_saved_views(console: Console, seen: Seen) -> None:
    ann, bob = await console.browser(Role.TENANT_ADMIN, "acme"), await console.browser(Role.OPERATOR, "acme")
    path, list_of = "/t/acme/jobs/views", "/t/acme/jobs?q=state%3Afailed&col=state"
    query = list_of.partition("?")[2]
    for name, shared in (("Mine alone", {}), ("Everybody’s <b>", {"shared": "on"})):
        answer = await sent(ann, list_of, path, name=name, query=query, **shared)
        assert (answer.status_code, answer.headers["location"]) == (303, list_of)
    own, others = (await ann.get("/t/acme/jobs")).text, (await bob.get("/t/acme/jobs")).text
    for text, names in ((own, ["Mine alone", "Everybody’s &lt;b&gt;"]), (others, ["Everybody’s &lt;b&gt;"])):
        assert [n for n in ("Everybody’s &lt;b&gt;", "Mine alone") if f">{n}" in text] == sorted(names)
    assert (
        f'href="{list_of.replace("&", "&amp;")}" aria-current="page">Mine alone'
        in (await ann.get(list_of)).text
    )
    foreign = await console.browser(Role.TENANT_ADMIN, "other")
    assert "Everybody’s" not in (await foreign.get("/t/other/jobs")).text
    assert "Everybody’s" not in (await (await console.browser()).get("/ops/jobs")).text
    assert (await sent(ann, "/t/acme/jobs", path, name=" ", query="")).status_code == 422
    [shared] = re.findall(r'action="(/t/acme/jobs/views/[0-9a-f-]+/delete)"', own.partition("Everybody")[2])[
        -2:-1
    ]
    assert (await sent(bob, "/t/acme/jobs", shared)).status_code == 404
    for delete in re.findall(r'action="(/t/acme/jobs/views/[0-9a-f-]+/delete)"', own):
        assert (await sent(ann, "/t/acme/jobs", delete)).status_code == 303
    assert "Mine alone" not in (await ann.get("/t/acme/jobs")).text
    log = await console.api.rows("select action from postmill.audit_log where action ~ '^views' order by id")
    assert log == [("views.save",), ("views.save",), ("views.delete",), ("views.delete",)]


async def test_files_of_a_list(console: Console, seen: Seen) -> None:
    client = await console.browser(Role.TENANT_ADMIN, "acme")
    page = "/t/acme/jobs"
    answer = await sent(
        client, page, "/t/acme/jobs/export", q="type:Bill.Send", format="ndjson", args="args.n"
    )
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith('attachment; filename="jobs-')
    assert answer.headers["x-content-type-options"] == "nosniff"
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert [(row["id"], row["state"], row["args.n"]) for row in rows] == [
        (str(seen.ids["b b"]), "queued", "4243"), (str(seen.ids["order:4711"]), "queued", "4242")
    ]  # fmt: skip
    await console.api.owner.execute(
        "update postmill.job set correlation_id = '=1+1' where id = %s", [seen.ids["failed"]]
    )
    answer = await sent(client, page, "/t/acme/jobs/export", q="state:failed", format="csv")
    [row] = csv.DictReader(io.StringIO(answer.text))
    assert (row["id"], row["correlation_id"], row["error_class"]) == (
        str(seen.ids["failed"]),
        "'=1+1",
        "ValueError",
    )
    assert (row["replayed_as"], row["replay_state"]) == ("", "")
    assert answer.headers["x-postmill-complete"] == "true"
    log = await console.api.rows(
        "select after ->> 'query', via from postmill.audit_log where action = 'jobs.export' order by id"
    )
    assert log == [("type:Bill.Send", "console"), ("state:failed", "console")]
    assert (await sent(client, page, "/t/acme/jobs/export", q="nope:x")).status_code == 422


async def test_completions_are_of_the_scope(console: Console, seen: Seen) -> None:
    client, platform = await console.browser(Role.VIEWER, "acme"), await console.browser()
    assert (await client.get("/t/acme/facets?term=state:de")).json()[0]["text"] == "state:dead_letter"
    assert (await client.get("/t/acme/facets?term=type:bill")).json() == [
        {"text": "type:Bill.Send", "note": "default"}
    ]
    assert (await client.get("/t/acme/facets?term=tenant:o")).json() == []
    assert (await platform.get("/ops/facets?term=tenant:oth")).json()[0]["text"] == "tenant:other"
    auditor = await console.browser(Role.AUDITOR)
    assert (await auditor.get("/ops/facets?term=")).status_code == 200


async def test_the_platform_sees_tenants(console: Console, seen: Seen) -> None:
    client = await console.browser(Role.PLATFORM_VIEWER)
    text = (await client.get("/ops/jobs?q=tenant:other")).text
    assert listed(text) == [seen.other]
    assert ">Tenant</th>" in text
    assert '<a href="/t/other/jobs">other</a>' in text
    assert 'disabled title="Your role may not do this">Cancel</button>' in text
