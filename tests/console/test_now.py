"""The first pages: what is wrong stands there with its cause, and each of it leads on; a tenant sees its own."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from html.parser import HTMLParser
from uuid import UUID

import pytest
import pytest_asyncio
from httpx import Response

from postmill.domain.access import Role
from tests.console.harness import Console, sent
from tests.console.outage import GROUP, HOSTILE, do, night
from tests.support.api import unknown_id

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Texts(HTMLParser):
    """What a page says, and where its links lead."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.said: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.feed(html)
        self.text = re.sub(r"\s+", " ", " ".join(self.said))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = dict(attrs)
        assert "style" not in given
        assert not [name for name in given if name.startswith("on")]
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))

    def handle_data(self, data: str) -> None:
        self.said.append(data)


async def page(
    console: Console, path: str, role: Role = Role.SUPER_ADMIN, tenant: str | None = None
) -> Texts:
    client = await console.browser(role, tenant)
    answer = await client.get(path)
    assert answer.status_code == 200, answer.text
    return Texts(answer.text)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def quiet(console: Console) -> dict[str, Texts]:
    """Pages of a platform on which nothing has ever happened."""
    return {
        "now": await page(console, "/ops"),
        "overview": await page(console, "/t/acme", Role.VIEWER, "acme"),
    }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def incidents(console: Console, quiet: dict[str, Texts]) -> AsyncIterator[dict[str, UUID]]:
    yield await night(console.api)


async def test_nothing_is_wrong(console: Console, quiet: dict[str, Texts]) -> None:
    assert "Nothing is wrong" in quiet["now"].text
    assert "Nothing was deployed" not in quiet["now"].text  # somebody logged in, which is told
    assert "Operator logged in" in quiet["now"].text
    assert "In the last hour 0 jobs were made" in quiet["now"].text
    for said in (
        "All is well",
        "Nothing ran in the last 24 h",
        "No schedule waits",
        "no budget of its own",
        "nothing waits",
    ):
        assert said in quiet["overview"].text, said


async def test_the_verdict_is_one_line_of_links(console: Console, incidents: dict[str, UUID]) -> None:
    now = await page(console, "/ops")
    for clause, link in {
        "1 queue breaches its SLA since": "/ops/queues?health=breach",
        "1 incident of failures : ChargeInvoice since": "/ops#part-incidents",
        "1 error group is new : TimeoutError since": f"/ops/errors/{GROUP}",
        "5 tenants affected": "/ops/tenants?affected=1",
        "1 worker is stale": "/ops/workers?state=stale",
    }.items():
        assert clause in now.text
        assert link in now.links


async def test_an_incident_says_since_when_whom_and_why(console: Console, incidents: dict[str, UUID]) -> None:
    now = await page(console, "/ops")
    assert "first TimeoutError after ChargeInvoice v42" in now.text
    assert "5: acme , other , hurt-0 …" in now.text
    assert re.search(r"1,?50", now.text)  # jobs: 50 + 40 + 30 + 20 + 10
    # In the last whole minute three of each of five, a week ago 18 in the hour.
    assert re.search(r"15 attempts failed 0\.3 a week ago", now.text), now.text
    assert "no worker serves mail" in now.text
    assert "payments" in now.text
    assert {f"/ops/errors/{GROUP}", "/ops/definitions/ChargeInvoice", "https://wiki.test/billing"} <= set(
        now.links
    )
    assert (
        f"/ops/ops-log/new?q=state%3Adead_letter+error%3A{GROUP}+type%3AChargeInvoice&step=impact"
        in now.links
    )
    assert "Deployed ChargeInvoice v42" in now.text
    order = [now.text.index(words) for words in ("Critical Dead letters", "Queue breach")]
    assert order == sorted(order)
    assert now.tags.count("script") == 1
    assert HOSTILE in now.text  # as text


async def test_what_has_one_cause_is_one_row(console: Console, incidents: dict[str, UUID]) -> None:
    """Jobs that are given up and the letters that pile up of them; builds of the application; acts in words."""
    api = console.api
    raised = "select postmill.note_incident('dead_letters', %s, 'warning', %s, '{}', null, %s, %s, '{}')"
    [(of_queue,)] = await api.rows(
        raised, "queue:billing", "90 open dead letters in queue billing", "billing", None
    )
    await do(api, """insert into postmill.dead_tally (tenant_id, queue, job_type, reason, error_group, opened, closed)
                     values (%s, 'billing', 'ChargeInvoice', 'x', %s, 90, 0), (%s, 'billing', 'Other', 'x', 'ffff', 80, 0)""",
             api.tenants["acme"], GROUP, api.tenants["acme"])  # fmt: skip
    for build, ago in (("build-41", 100), ("build-41", 90), ("build-42", 30)):
        await do(api, """insert into postmill.worker (holder, worker_id, hostname, pid, started_at, last_seen_at, queues, build,
                                 job_types)
                         values (gen_random_uuid(), 'w', 'c', 1, postmill.now() - %s * interval '1 minute', postmill.now(),
                                 '{billing}', %s, '{ChargeInvoice}')""", ago, build)  # fmt: skip
    before = (await page(console, "/ops")).text
    changes = (await page(console, "/ops?_part=changes")).text
    assert changes.count("Build started build-41") == 1  # a second process of it is no other build
    assert changes.count("Build started build-42") == 1
    # The one before it again, after its processes were gone: a rollback is a change.
    await do(api, """update postmill.worker set last_seen_at = postmill.now() - interval '29 minutes'
                      where build = 'build-41'""")  # fmt: skip
    await do(api, """insert into postmill.worker (holder, worker_id, hostname, pid, started_at, last_seen_at, queues,
                             build, job_types)
                     values (gen_random_uuid(), 'w', 'c', 1, postmill.now() - interval '5 minutes', postmill.now(),
                             '{billing}', 'build-41', '{ChargeInvoice}')""")  # fmt: skip
    assert "Build started again build-41" in (await page(console, "/ops?_part=changes")).text
    await do(api, """update postmill.dead_tally set opened = 120 where queue = 'billing' and job_type = 'ChargeInvoice'
                        and error_group = %s""", GROUP)  # fmt: skip
    assert "with it: 200 open dead letters in queue billing" in (await page(console, "/ops")).text
    for said in ("Tenant made", "1 incident of failures", "with it: 170 open dead letters in queue billing"):
        assert said in before, (said, before)
    assert "tenants.create" not in before
    now = await page(console, "/ops")
    assert now.text.count("Acknowledge") == 3
    assert f"/ops/incidents/{of_queue}/acknowledge" not in (await (await console.browser()).get("/ops")).text
    assert "/ops#part-incidents" in now.links
    client = await console.browser(Role.PLATFORM_OPERATOR)
    path = f"/ops/incidents/{incidents['job_exhausted']}/acknowledge"
    assert (await sent(client, "/ops", path, also=[str(of_queue)])).status_code == 303
    rows = await api.rows("select count(*) from postmill.incident where acknowledged_at is not null")
    assert rows == [(2,)]
    # As it was, for those that come.
    await do(api, "update postmill.incident set acknowledged_at = null, acknowledged_by = null")
    await do(api, "delete from postmill.incident where id = %s", of_queue)
    await do(api, "delete from postmill.worker where worker_id = 'w'")


async def test_an_alert_leads_to_its_incident_alone(console: Console, incidents: dict[str, UUID]) -> None:
    one = await page(console, f"/ops?incident={incidents['job_exhausted']}")
    assert "Only one incident is shown" in one.text
    assert "Last error" in one.text
    assert "Queue breach" not in one.text
    of_queue = await page(console, "/ops?queue=mail")
    assert "Queue breach" in of_queue.text
    assert "Critical Dead letters" not in of_queue.text
    assert "Nothing is wrong with queue nowhere" in (await page(console, "/ops?queue=nowhere")).text
    client = await console.browser()
    assert (await client.get(f"/ops?incident={unknown_id()}")).status_code == 404
    assert (await client.get("/ops?incident=x")).status_code == 422


async def test_live_parts_are_told_once(console: Console, incidents: dict[str, UUID]) -> None:
    client = await console.browser()
    for part in ("verdict", "incidents", "changes"):
        answer = await client.get(f"/ops?_part={part}")
        assert answer.status_code == 200
        assert "<html" not in answer.text
        assert len(answer.content) < 40_000
        tag = answer.headers["etag"]
        again = await client.get(f"/ops?_part={part}", headers={"If-None-Match": tag})
        assert again.status_code == 304  # how long ago it was is no news
    assert (await client.get("/ops?_part=strip")).text.count("<svg") == 1
    # All that a tab wants at once: only what it does not have goes over the line, each part under its own name.
    asks = "/ops?_part=verdict&_part=gone&_part=incidents&_part=changes"
    answer = await client.get(asks)
    assert told(answer) == ["verdict", "gone", "incidents", "changes"]
    assert '<template data-part="gone" data-over></template>' in answer.text
    verdict, _gone, incidents, changes = tags = answer.headers["etag"].strip('"').split(".")
    again = await client.get(asks, headers={"If-None-Match": f'W/"{verdict}..other.{changes}"'})
    now = again.headers["etag"].strip('"').split(".")
    assert told(again) == ["gone", "incidents"]
    assert now == tags
    three = await client.get(
        asks.replace("&_part=gone", ""), headers={"If-None-Match": f'"{verdict}.{incidents}.{changes}"'}
    )
    assert (three.status_code, three.content) == (304, b"")
    assert (await client.get("/ops?_part=gone&_part=none")).status_code == 404
    evil = await client.get('/ops?_part=verdict&_part="><script>')
    assert "<script" not in evil.text


def told(answer: Response) -> list[str]:
    """The names of the parts of an answer."""
    return re.findall('<template data-part="([a-z]+)"', answer.text)


async def test_who_may_not_act_sees_why(console: Console, incidents: dict[str, UUID]) -> None:
    now = await console.browser(Role.PLATFORM_VIEWER)
    text = (await now.get("/ops")).text
    assert text.count("Your role may not do this") >= 3
    assert "/acknowledge" not in text
    answer = await sent(now, "/ops", f"/ops/incidents/{incidents['sla_breach']}/acknowledge")
    assert answer.status_code == 403
    tenant = await console.browser(Role.TENANT_ADMIN, "acme")
    assert (await tenant.get("/ops")).status_code == 404
    auditor = await console.browser(Role.AUDITOR)
    assert (await auditor.get("/ops")).status_code == 403


async def test_acts(console: Console, incidents: dict[str, UUID]) -> None:
    client = await console.browser(Role.PLATFORM_OPERATOR)
    id = incidents["job_exhausted"]
    without = await sent(client, "/ops", f"/ops/incidents/{id}/pause", reason=" ", resume="1h")
    assert (without.status_code, "say why" in without.text) == (422, True)
    assert (
        await sent(client, "/ops", f"/ops/incidents/{id}/pause", reason="x", resume="2y")
    ).status_code == 422
    assert (await sent(client, "/ops", f"/ops/incidents/{unknown_id()}/acknowledge")).status_code == 404
    nothing = await sent(client, "/ops", f"/ops/incidents/{incidents['sla_breach']}/acknowledge")
    assert nothing.status_code == 303
    done = await sent(client, "/ops", f"/ops/incidents/{id}/pause", reason="v42 is bad", resume="1h")
    assert (done.status_code, done.headers["location"]) == (303, "/ops")
    [(reason, after)] = await console.api.rows(
        "select pause_reason, resume_at - paused_at from postmill.queue where name = 'billing'"
    )
    assert reason == "v42 is bad"
    assert abs(after - timedelta(hours=1)) < timedelta(seconds=5)
    now = Texts((await client.get("/ops")).text)
    assert "billing is paused; it goes on by itself at" in now.text
    # What is paused stands there with its end by the clock, beside the cause, and can be ended there.
    assert re.search(
        r"billing is paused until (?:\d{4}-\d\d-\d\d )?\d\d:\d\d UTC v42 is bad first TimeoutError after",
        now.text,
    )
    assert "/ops/queues/billing/resume" in (await client.get("/ops")).text
    assert "taken by platform_operator@None" in now.text
    assert "Queue paused billing" in now.text
    assert (
        await sent(client, "/ops", f"/ops/incidents/{incidents['stale_workers']}/resolve")
    ).status_code == 303
    assert "1 worker is stale" not in (await client.get("/ops")).text
    audited = await console.api.rows(
        "select action, via, role from postmill.audit_log where result = 'done' and action <> 'logins.open'"
        " order by at desc limit 3"
    )
    assert audited == [
        (action, "console", "platform_operator")
        for action in ("incidents.resolve", "queues.pause", "incidents.acknowledge")
    ]


async def test_a_tenants_overview_is_its_own(console: Console, incidents: dict[str, UUID]) -> None:
    api = console.api
    acme = api.tenants["acme"]
    await do(api, "select postmill.resume_queue('billing')")
    [(definition,)] = await api.rows("select id from postmill.job_definition where key = 'SendMail'")
    for slug in ("acme", "other"):
        await do(api, """insert into postmill.trigger (tenant_id, label, trigger_type, cron_expr, timezone, definition_id,
                   next_run_at)
               values (%s, %s, 'schedule', '0 3 * * *', 'UTC', %s, postmill.now() + interval '1 hour')""",
            api.tenants[slug], f"nightly {slug}", definition,
        )  # fmt: skip
    await do(api, "update postmill.trigger set next_run_at = postmill.now() + interval '1 hour'")
    await do(
        api,
        """insert into postmill.tick (trigger_id, due, tenant_id, outcome, detail, fired_at)
           select id, postmill.now() - interval '1 day', tenant_id, 'skipped', 'missed: nobody was there', postmill.now()
             from postmill.trigger where label = 'nightly acme'""",
    )
    await do(api, "select postmill.door_set_budget('ai', %s, '{\"limit_amount\": 100}', 'upsert')", acme)
    await do(api, "select postmill.enqueue('SendMail', '{}', tenant => %s) from generate_series(1, 7)", acme)
    mine = await page(console, "/t/acme", Role.VIEWER, "acme")
    for said in (
        "It is us: the platform is late",
        "Queued 7",
        "4 made a minute",
        "ChargeInvoice 75.0 % below target",
        "TimeoutError",
        "nightly acme",
        "Missed nightly acme",
        "Nothing was replayed or discarded",
        "ai",
    ):
        assert said in mine.text, (said, mine.text)
    for hidden in ("other", "hurt-", "w-1", "payments", "nightly other", "1204", "1,204"):
        assert hidden not in mine.text, hidden
    assert not [link for link in mine.links if link == "/ops" or link.startswith("/ops/")]
    # What fails for others, too, is not the tenant's; what the platform did to its jobs is told, and nothing of others.
    await do(api, "delete from postmill.worker")
    await do(api, """insert into postmill.worker (holder, worker_id, hostname, pid, started_at, last_seen_at, queues)
                     values ('00000000-0000-4000-8000-0000000000aa', 'lives', 'c', 1, postmill.now(), postmill.now(),
                             '{mail,billing}')""")  # fmt: skip
    await do(api, """insert into postmill.lease (holder, started_at, expires_at)
                     select holder, postmill.now(), postmill.now() + interval '1 hour' from postmill.worker""")  # fmt: skip
    assert "It looks like you" in (await page(console, "/t/acme?_part=blame", Role.VIEWER, "acme")).text
    await do(
        api,
        """insert into postmill.error_group_tenant (id, tenant_id, first_seen_at, last_seen_at, count)
           values (%s, %s, postmill.now(), postmill.now(), 9)""",
        GROUP,
        unknown_id(),
    )
    [(operation,)] = await api.rows(
        """insert into postmill.operation (id, kind, status, stage, filter, created_at, actor_type, total)
           values (postmill.new_id(), 'replay', 'finished', 'rest', '{}', postmill.now(), 'user', 3) returning id"""
    )
    for n, (slug, status) in enumerate((("acme", "replayed"), ("acme", None), ("other", "replayed"))):
        await do(api, """insert into postmill.operation_item (operation_id, n, job_id, tenant_id, status)
                         values (%s, %s, %s, %s, %s)""",
                 operation, n, unknown_id(), api.tenants[slug], status)  # fmt: skip
    [(job,)] = await api.rows("select postmill.enqueue('ChargeInvoice', '{}', tenant => %s)", acme)
    # What was tried again and succeeded is no failure of the platform.
    assert "It looks like you" in (await page(console, "/t/acme?_part=blame", Role.VIEWER, "acme")).text
    await do(api, """with gone as (delete from postmill.ready where id = %s returning *)
                     insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, attempts,
                            failed_at, error_class, error_group)
                     select id, %s, queue, lane, priority, 1, 1, 0, 'attempts', 1, postmill.now(), 'E', %s from gone""",
             job, acme, GROUP)  # fmt: skip
    ours = await page(console, "/t/acme", Role.VIEWER, "acme")
    for said in (
        "It looks like us: 25.0 % of your jobs of the last hour failed, and jobs of ChargeInvoice fail in the same way",
        "by the platform 1 of your 2 jobs",
        "1 of your jobs was given up, and waits to be replayed or discarded",
    ):
        assert said in ours.text, (said, ours.text)
    await do(api, "select postmill.door_pause_type('ChargeInvoice', 'v42 is bad')")
    assert "It is us: ChargeInvoice is paused until somebody resumes it." in (
        await page(console, "/t/acme", Role.VIEWER, "acme")
    ).text  # fmt: skip
    await do(api, "select postmill.door_resume_type('ChargeInvoice')")
    # Replayed, and the replay succeeded: it was, to the tenant as on Now, where the cause is marked in one click.
    [(new,)] = await api.rows("select new_id from postmill.replay_jobs(array[%s::uuid])", job)
    assert "It looks like us" in (await page(console, "/t/acme?_part=blame", Role.VIEWER, "acme")).text
    await do(api, """with gone as (delete from postmill.ready where id = %s returning *)
                     insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost)
                     select id, %s, 'succeeded', postmill.now(), 1, 1, 0 from gone""", new, acme)  # fmt: skip
    await do(
        api, "update postmill.error_group_tenant set last_seen_at = postmill.now() - interval '6 minutes'"
    )
    mended = (await page(console, "/t/acme?_part=blame", Role.VIEWER, "acme")).text
    assert (
        "It was us, and is over: 1 of your jobs failed, of ChargeInvoice, as those of other tenants did"
        in mended
    )
    assert "1 was replayed and succeeded." in mended
    await do(api, "delete from postmill.dead_tally where error_group = %s", GROUP)
    await do(api, "update postmill.incident set resolved_at = postmill.now() where kind = 'job_exhausted'")
    await do(api, "update postmill.operation_item set job_id = %s, new_id = %s where operation_id = %s and n = 0",
             job, new, operation)  # fmt: skip
    await do(api, "delete from postmill.operation_item where operation_id = %s and n = 2", operation)
    await do(api, "update postmill.operation set done = 1 where id = %s", operation)
    clear = await page(console, "/ops?_part=verdict")
    assert re.search(
        r"Over since \d\d:\d\d UTC : TimeoutError ChargeInvoice \. 150 jobs were given up", clear.text
    )
    assert "1 replayed : all succeeded Mark resolved" in clear.text
    assert "error group is new" not in clear.text
    await do(api, """select postmill.audit('operations.finish', 'operation', %s, null, null,
                            '{"done": 1, "total": 3, "skipped": 2, "failed": 0}')""", str(operation))  # fmt: skip
    assert re.search(
        "Bulk operation ended .* – 1 of 3 jobs done, 2 skipped", (await page(console, "/ops")).text
    )
    # The platform's people see the same within the tenant; who has not run anything has nothing to look at.
    assert "ChargeInvoice 75.0 %" in (await page(console, "/t/acme", Role.PLATFORM_VIEWER)).text
    await api.tenant("fresh")
    assert "Nothing ran in the last 24 h" in (await page(console, "/t/fresh", Role.VIEWER, "fresh")).text
    limited = await page(console, "/t/acme", Role.AUDITOR, "acme")
    assert "What fails" not in limited.text
    client = await console.browser(Role.VIEWER, "fresh")
    assert (await client.get("/t/acme")).status_code == 404
    assert (await client.get("/t/acme?_part=states")).status_code == 404
    for part in ("blame", "states", "strip", "attained", "causes", "runs", "budgets", "bulk"):
        own = await console.browser(Role.VIEWER, "acme")
        answer = await own.get(f"/t/acme?_part={part}")
        assert (answer.status_code, "<html" in answer.text) == (200, False), part
        assert len(answer.content) < 60_000
