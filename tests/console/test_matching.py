"""What a query finds is what its words say, whatever index is walked and however little a page looks at."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import AsyncConnection

from postmill.bind import adrive, arun
from postmill.domain.lifecycle import State
from postmill.domain.query import parse
from postmill.domain.query_words import QueryError
from postmill.operate import finding
from postmill.operate.tenants import create_tenant
from postmill.store.finding import (
    read_made_below,
    read_matching_bars,
    read_matching_counts,
    read_matching_ids,
)
from postmill.store.reads import read_summary
from tests.support.jobs_in_states import StateMaker

pytestmark = pytest.mark.asyncio

STATES = ("queued", "scheduled", "retrying", "running", "succeeded", "failed", "canceled", "dead_letter")
BEGIN = "select postmill.begin_request(%s, %s, 'console', 'user', 'ann', 'viewer', null)"


@dataclass
class Fact:
    """A job as it was made."""

    id: UUID
    tenant: str
    type: str
    state: str
    queue: str
    n: int

    @property
    def ended(self) -> bool:
        return self.state in ("succeeded", "failed", "canceled", "dead_letter")


async def made(conn: AsyncConnection[Any]) -> list[Fact]:
    """Two tenants' jobs of two types in every state, three of each; every third is in another queue."""
    types = [{"key": "Mail.Send", "aliases": ["mail"]}, {"key": "Scan"}]
    await conn.execute("select * from postmill.register_job_types(%s::text::jsonb)", [json.dumps(types)])
    await conn.execute("insert into postmill.queue (name) values ('Slow:1')")
    facts = []
    for slug in ("acme", "other"):
        tenant = (await adrive(conn, create_tenant(slug))).id
        maker = await StateMaker.begin(conn, tenant)
        for n in range(3):
            for job_type in ("Mail.Send", "Scan"):
                for state in STATES:
                    made = "scheduled" if state == "retrying" else state
                    if made in ("queued", "scheduled", "running"):
                        id = await getattr(maker, made)(job_type)
                    else:
                        id = await maker.ended(made, job_type)
                    facts.append(Fact(id, slug, job_type, state, "default", n))
    await changed(conn, facts)
    return sorted(facts, key=lambda fact: fact.id, reverse=True)


async def changed(conn: AsyncConnection[Any], facts: list[Fact]) -> None:
    """What no verb makes in a moment: payloads, keys, retries, groups, another queue."""
    for fact in facts:
        await conn.execute(
            """update postmill.job set payload = %s::text::jsonb, idempotency_key = %s, actor_id = %s, correlation_id = %s,
                      source = %s, source_ref = %s where id = %s""",
            [json.dumps({"n": fact.n, "deep": {"tags": [f"t{fact.n}"]}}), f"k {fact.n}", f"u{fact.n}", f"c{fact.n}",
             ("manual", "schedule", "manual")[fact.n], str(UUID(int=fact.n)) if fact.n == 1 else None, fact.id],
        )  # fmt: skip
        if fact.state == "retrying":
            await conn.execute(
                """with gone as (delete from postmill.scheduled where id = %s returning *)
                   insert into postmill.scheduled select queue, lane, run_at, id, priority, 3, run, lost from gone""",
                [fact.id],
            )
        if fact.n == 2 and fact.state in ("queued", "scheduled"):
            table = {"queued": "ready"}.get(fact.state, fact.state)
            columns = "lane, priority, id, attempt, run, lost, " + (
                "ready_at" if table == "ready" else "run_at"
            )
            await conn.execute(
                f"""with gone as (delete from postmill.{table} where id = %s returning *)
                    insert into postmill.{table} (queue, {columns}) select 'Slow:1', {columns} from gone""".encode(),
                [fact.id],
            )
            fact.queue = "Slow:1"
    await conn.execute("update postmill.outcome set error_group = 'abcdef0123456789' where status = 'failed'")
    await conn.execute("update postmill.attempt set error_group = 'abcdef9999999999' where status = 'failed'")
    await conn.execute("update postmill.worker set build = 'shop-42'")
    await conn.execute(
        """update postmill.job_definition set arg_schema = '{"properties": {"invoice": {"type": "integer"}}}'
            where key = 'Scan'"""
    )
    for id in ("abcdef0123456789", "abcdef9999999999"):
        await conn.execute(
            """insert into postmill.error_group values (%s, 'Scan', 'app.Broken', 'm', '', null, null, now(), now(), 1)""",
            [id],
        )
        await conn.execute(
            "insert into postmill.error_group_tenant select %s, id, now(), now(), 1, null from postmill.tenant",
            [id],
        )


QUERIES: Mapping[str, Callable[[Fact], bool]] = {
    "": lambda f: True,
    **{f"state:{state}": lambda f, s=state: f.state == s for state in STATES if state != "scheduled"},
    "state:scheduled": lambda f: f.state in ("scheduled", "retrying"),
    "state:scheduled -state:retrying": lambda f: f.state == "scheduled",
    "-state:succeeded": lambda f: f.state != "succeeded",
    "-state:succeeded,failed type:Scan": lambda f: f.state not in ("succeeded", "failed") and f.type == "Scan",
    "state:failed,dead_letter,retrying tenant:acme": lambda f: f.state in ("failed", "dead_letter", "retrying")
    and f.tenant == "acme",
    "type:mail state:running,queued": lambda f: f.type == "Mail.Send" and f.state in ("running", "queued"),
    "-type:Mail.Send": lambda f: f.type != "Mail.Send",
    "tenant:acme,other": lambda f: True,
    "-tenant:acme state:queued": lambda f: f.tenant != "acme" and f.state == "queued",
    "queue:slow:1": lambda f: f.queue == "Slow:1",
    "queue:Slow:1 state:queued": lambda f: f.queue == "Slow:1" and f.state == "queued",
    "-queue:Slow:1 state:scheduled": lambda f: f.queue == "default" and f.state in ("scheduled", "retrying"),
    "queue:default -state:succeeded tenant:other": lambda f: f.queue == "default"
    and f.state != "succeeded"
    and f.tenant == "other",
    "error:abcdef0": lambda f: f.state == "failed",
    "error:Broken tenant:other": lambda f: f.state in ("failed", "dead_letter") and f.tenant == "other",
    "-error:abcdef": lambda f: f.state not in ("failed", "dead_letter"),
    "error:abcdef9 state:dead_letter type:Scan": lambda f: f.state == "dead_letter" and f.type == "Scan",
    "source:schedule": lambda f: f.n == 1,
    "source:schedule tenant:acme state:canceled": lambda f: f.n == 1 and f.tenant == "acme" and f.state == "canceled",
    "-source:schedule": lambda f: f.n != 1,
    'key:"k 1"': lambda f: f.n == 1,
    "actor:u0,u2": lambda f: f.n != 1,
    "correlation:c2 type:Scan": lambda f: f.n == 2 and f.type == "Scan",
    "attempt:>1": lambda f: f.state == "retrying",
    "attempt:0": lambda f: f.state in ("queued", "scheduled"),
    "ran:<1h state:succeeded": lambda f: f.state == "succeeded",
    "ran:>1h": lambda f: False,
    "worker:w1": lambda f: f.ended or f.state == "running",
    "build:shop-42": lambda f: f.ended or f.state == "running",
    "-worker:host": lambda f: f.state in ("queued", "scheduled", "retrying"),
    "type:Scan args.n:2": lambda f: f.type == "Scan" and f.n == 2,
    'type:Scan args.n:"2"': lambda f: False,
    "type:Scan,mail args.deep.tags:t0,t1": lambda f: f.n != 2,
    "type:Scan -args.n:2 state:failed": lambda f: f.type == "Scan" and f.n != 2 and f.state == "failed",
    "since:1h": lambda f: True,
    "until:1h": lambda f: False,
    "age:>1h": lambda f: False,
    "since:2020-01-01 until:2020-01-02": lambda f: False,
}  # fmt: skip


@pytest.mark.matrix
async def test_a_query_finds_what_its_words_say(apg: AsyncConnection[Any]) -> None:
    facts = await made(apg)
    tenants = {"acme": None, "other": None}
    for slug in tenants:
        cursor = await apg.execute("select id from postmill.tenant where slug = %s", [slug])
        tenants[slug] = (await cursor.fetchone() or [None])[0]
    for gin in (False, True):
        if gin:
            for table in ("job", "job_kept"):
                await apg.execute(
                    f"create index on postmill.{table} using gin (payload jsonb_path_ops)".encode()
                )
            by_index = """select cardinality(postmill.args_matching(array['{"n": 2}'::jsonb], %s, %s))"""
            cursor = await apg.execute(by_index, [UUID(int=2**128 - 1), UUID(int=0)])
            assert await cursor.fetchone() == (len(facts) // 3,)
        for scope in (None, "acme"):
            for text, fits in QUERIES.items():
                if (gin and "args" not in text) or (scope and "other" in text):
                    continue
                async with apg.transaction(force_rollback=True):
                    await apg.execute(BEGIN, [scope and tenants[scope], scope is None])
                    want = await adrive(apg, finding.wanted(text, payloads=True))
                    expected = [f.id for f in facts if fits(f) and scope in (None, f.tenant)]
                    found, low = await arun(apg, read_matching_ids(want.filter, most=500))
                    assert (found, low) == (expected, None), (text, scope, gin)
                    # In small steps, each of which looks at little.
                    steps: list[UUID] = []
                    before = UUID(int=2**128 - 1)
                    while True:
                        page = await adrive(apg, finding.page(want, before=before, most=20, look=30))
                        steps += [job.id for job in page.jobs]
                        if page.before is None:
                            break
                        assert page.before < before
                        before = page.before
                    assert steps == expected, (text, scope, gin)
                    # Or with patience, until the page is full: however little is looked at first.
                    page = await adrive(apg, finding.page(want, most=500, look=5, patience=9.0))
                    assert ([job.id for job in page.jobs], page.before) == (expected, None), (text, scope)


async def test_counts_bars_and_ids(apg: AsyncConnection[Any]) -> None:
    facts = await made(apg)
    want = await adrive(apg, finding.wanted("type:Scan state:failed"))
    # Hours in which no job of a type was made are passed over, as far as they are counted for good.
    below = [await arun(apg, read_made_below(["Scan"], UUID(int=2**128 - 1)))]
    await apg.execute("select set_config('postmill.clock_offset', '9 hours', false)")
    await apg.execute(
        "update postmill.rollup_state set counted_to = postmill.now(), final_to = postmill.now()"
    )
    await apg.execute(
        """insert into postmill.rollup_hour (hour, queue, job_type, outcome, n)
           select date_bin('1 hour', postmill.now(), '2000-01-01 00:00+00') - h * interval '1 hour', 'q', t, 'enqueued', 1
             from (values (4, 'Scan'), (5, 'plain'), (8, 'plain')) v(h, t)"""
    )
    hour = "select postmill.id_at(date_bin('1 hour', postmill.now(), '2000-01-01 00:00+00') - %s * interval '1 hour')"
    at = [(await (await apg.execute(hour.encode(), [n])).fetchone() or [UUID(int=0)])[0] for n in range(9)]
    below += [await arun(apg, read_made_below(["Scan"], at[n])) for n in (0, 2, 4, 5)]
    # Not counted for good; hours passed over; in the hour itself; before the first that is known of.
    assert below == [UUID(int=2**128 - 1), at[0], at[3], at[4], at[8]]
    await apg.execute("select set_config('postmill.clock_offset', '0', false)")
    counts = {c.state: (c.n, c.at_least) for c in await arun(apg, read_matching_counts(want.filter))}
    expected = {
        s: (sum(f.type == "Scan" and f.state == s for f in facts), False) for s in (*STATES, "blocked")
    }
    expected["scheduled"], expected["replayed"] = (12, False), (0, False)
    assert counts == expected
    # A letter that was replayed is open no longer: it has a word of its own, and is counted under it alone.
    letters = [f.id for f in facts if f.type == "Scan" and f.state == "dead_letter"]
    await apg.execute("select postmill.replay_jobs(%s, p_confirm => true)", [letters[:1]])
    for text, fits in (
        ("dead_letter", letters[1:]),
        ("replayed", letters[:1]),
        ("dead_letter,replayed", letters),
    ):
        found = await adrive(apg, finding.wanted(f"type:Scan state:{text}"))
        assert (await arun(apg, read_matching_ids(found.filter)))[0] == fits, text
    found = await adrive(apg, finding.wanted("type:Scan -state:dead_letter"))
    assert set(letters) & set((await arun(apg, read_matching_ids(found.filter, most=500)))[0]) == set(
        letters[:1]
    )
    counts = {c.state: c.n for c in await arun(apg, read_matching_counts(want.filter))}
    assert (counts["dead_letter"], counts["replayed"]) == (len(letters) - 1, 1)
    summary = {one.state: one for one in await arun(apg, read_summary())}
    summed = summary[State.DEAD_LETTER]
    assert (summed.n - summed.shown.n, summed.open_letters) == (1, summed.shown.n)
    # Of everything in the scope, too, which is counted in another way.
    whole = await adrive(apg, finding.wanted(""))
    counts = {c.state: c.n for c in await arun(apg, read_matching_counts(whole.filter))}
    scheduled = summary[State.SCHEDULED]
    assert (scheduled.retrying, scheduled.retrying_at_least) == (counts["retrying"], False)
    assert counts["retrying"] > 0
    bars = await arun(apg, read_matching_bars(whole.filter))
    ids, _ = await arun(apg, read_matching_ids(whole.filter, most=10_000))
    assert (bars.total, bars.complete_to, sum(n for _, n in bars.bars)) == (len(ids), None, len(ids))
    cut = await apg.execute(
        "select total, complete_to = postmill.id_time(%s) from postmill.read_matching_bars('{}', 5)",
        [ids[5]],
    )
    assert await cut.fetchone() == (6, True)
    bars = await arun(apg, read_matching_bars(want.filter))
    assert (bars.total, bars.complete_to, sum(n for _, n in bars.bars)) == (6, None, 6)
    assert bars.width < 60, "as fine as what is there takes"
    one = facts[7].id
    for text in (f"id:{one}", f"id:{str(one)[:20]} id:{one}", f"id:{uuid4()},{one}"):
        want = await adrive(apg, finding.wanted(text))
        assert (await arun(apg, read_matching_ids(want.filter)))[0] == [one]
    assert (await adrive(apg, finding.wanted(f"-id:{one}"))).filter["terms"][0]["not"]
    assert await adrive(apg, finding.jump(str(one).replace("-", ""))) == one


async def test_an_operation_and_a_trigger_find_their_jobs(apg: AsyncConnection[Any]) -> None:
    facts = await made(apg)
    operation, trigger = uuid4(), uuid4()
    await apg.execute(
        """insert into postmill.operation (id, kind, stage, filter, total, actor_type, created_at)
           values (%s, 'replay', 'rest', '{}', 2, 'user', now())""", [operation],
    )  # fmt: skip
    for n, (status, new) in enumerate((("replayed", facts[3].id), ("never", None))):
        await apg.execute(
            """insert into postmill.operation_item (operation_id, n, job_id, tenant_id, status, new_id)
               select %s, %s, id, tenant_id, %s, %s from postmill.job where id = %s""",
            [operation, n, status, new, facts[9].id],
        )
    await apg.execute(
        """insert into postmill.trigger (id, tenant_id, label, trigger_type, timezone, every, definition_id)
           select %s, t.id, 'Nightly run', 'schedule', 'UTC', '1 day', d.id from postmill.tenant t, postmill.job_definition d
            where t.slug = 'acme' and d.key = 'Scan'""", [trigger],
    )  # fmt: skip
    await apg.execute(
        "update postmill.job set source = 'schedule', source_ref = %s where id = %s",
        [str(trigger), facts[5].id],
    )
    for text, expected in {
        f"op:{operation}": {facts[3].id, facts[9].id},
        f"op:{str(operation)[:8]} -state:succeeded": {
            f.id for f in (facts[3], facts[9]) if f.state != "succeeded"
        },
        f"-op:{operation}": {f.id for f in facts} - {facts[3].id, facts[9].id},
        # Whatever walk is taken, every term is asked.
        f"error:abcdef0 op:{operation}": {f.id for f in (facts[3], facts[9]) if f.state == "failed"},
        f"error:abcdef0 id:{facts[0].id}": {facts[0].id} if facts[0].state == "failed" else set(),
        'trigger:"nightly run"': {facts[5].id},
        f"-trigger:{trigger}": {f.id for f in facts} - {facts[5].id},
    }.items():
        want = await adrive(apg, finding.wanted(text))
        found, _low = await arun(apg, read_matching_ids(want.filter))
        assert set(found) == expected, text


REFUSED = {
    "type:Mail.Sned": (5, "did you mean 'Mail.Send'?"),
    "queue:slow:2": (6, "did you mean 'Slow:1'?"),
    "tenant:nobody": (7, "there is no tenant 'nobody' here"),
    "error:ffff": (6, "there is no error group or class"),
    "worker:w77": (7, "there is no worker"),
    "build:shop-41": (6, "there is no build 'shop-41' here; did you mean 'shop-42'?"),
    "Invoice:7": (0, "did you mean args.invoice: of type:Scan?"),
    "op:ffffffff": (3, "there is no operation"),
    "args.n:1": (0, "add the job type that has this argument"),
    "-type:Scan args.n:1": (11, "add the job type"),
}


async def test_names_that_are_not_there_are_refused_with_their_position(apg: AsyncConnection[Any]) -> None:
    await made(apg)
    for text, (at, why) in REFUSED.items():
        with pytest.raises(QueryError) as caught:
            await adrive(apg, finding.wanted(text, payloads=True))
        assert caught.value.at == at, text
        assert why in caught.value.why, caught.value.why
    with pytest.raises(QueryError, match="your role may not read payloads"):
        await adrive(apg, finding.wanted("type:Scan args.n:1"))
    # A tenant is not told of others, not even that they are there.
    [tenant] = await (await apg.execute("select id from postmill.tenant where slug = 'acme'")).fetchone() or [
        None
    ]
    async with apg.transaction(force_rollback=True):
        await apg.execute(BEGIN, [tenant, False])
        with pytest.raises(QueryError, match=r"there is no tenant 'other' here$"):
            await adrive(apg, finding.wanted("tenant:other"))
        assert [o.text for o in await adrive(apg, finding.offers("tenant:"))] == ["tenant:acme"]
        assert await adrive(apg, finding.offers("worker:")) == []
    assert parse("tenant:other").named("tenant")


async def test_completions(apg: AsyncConnection[Any]) -> None:
    await made(apg)
    for typed, expected in {
        "st": ["state:"],
        "-que": ["-queue:"],
        "state:dead": ["state:dead_letter"],
        "state:failed,de": ["state:failed,dead_letter", "state:failed,succeeded"],
        "type:mail": ["type:Mail.Send"],
        "queue:default,s": ["queue:default,Slow:1"],
        "error:brok": ["error:abcdef0123456789", "error:abcdef9999999999"],
        "worker:w": ["worker:w1"],
        "nothing:x": [],
    }.items():
        assert [offer.text for offer in await adrive(apg, finding.offers(typed))] == expected, typed
