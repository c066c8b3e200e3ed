"""Events: who meets them, their windows, and the rounds that settle what a publisher could not."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from psycopg import Connection

from postmill import Client, publish
from postmill.domain.registry import Registry
from postmill.engine.config import WorkerConfig
from postmill.engine.worker import Worker
from postmill.telemetry.events import TriggerFailed
from tests.support.databases import Database
from tests.support.workers import until
from tests.triggers.support import REGISTER, many, one, trigger, upkeep

Conn = Connection[Any]

OUTCOMES = "select t.label, y.outcome from postmill.event_delivery y join postmill.trigger t on t.id = y.trigger_id order by 1, 2"


@pytest.fixture
def pg(pg: Conn) -> Conn:
    pg.execute(REGISTER)
    pg.execute(
        "insert into postmill.tenant (id, slug, name) values ('00000000-0000-0000-0000-000000000002', 'two', 'Two')"
    )
    return pg


def test_who_meets_an_event(pg: Conn) -> None:
    names = (
        "provider.folder.updated",
        "provider.folder.*",
        "provider.*",
        "*",
        "provider",
        "provider.folder",
        "provider.f*",
        "p.*",
    )
    for name in names[:6]:
        trigger(pg, name, event_name=name)
    trigger(pg, "off", event_name="*", is_enabled=False)
    trigger(pg, "deleted", event_name="*", deleted_at="2026-01-01T00:00Z")
    trigger(pg, "another tenant's", event_name="*", tenant_id="00000000-0000-0000-0000-000000000002")
    met = publish(pg, "provider.folder.updated", {"a": 1})
    assert {it.label for it in met.deliveries} == set(names[:4])
    assert one(pg, "select count(*) from postmill.job") == 4


def test_equal_payloads_within_the_window_make_one_job(pg: Conn) -> None:
    trigger(pg, "five minutes", event_name="a", payload={"x": "{{ event.x }}"})
    trigger(pg, "none", event_name="a", payload={"x": "{{ event.x }}"}, dedupe_window_seconds=0)
    first = publish(pg, "a", {"x": 1, "noise": 1})
    again = publish(pg, "a", {"noise": 2, "x": 1})
    other = publish(pg, "a", {"x": "1"})
    outcomes = [
        [it.outcome for it in sorted(made.deliveries, key=lambda it: it.label)]
        for made in (first, again, other)
    ]
    assert outcomes == [["enqueued", "enqueued"], ["duplicate", "enqueued"], ["enqueued", "enqueued"]]
    by_label = {it.label: it for it in first.deliveries}, {it.label: it for it in again.deliveries}
    assert by_label[0]["five minutes"].job_id == by_label[1]["five minutes"].job_id
    pg.execute("set postmill.clock_offset = '301 seconds'")
    assert {it.outcome for it in publish(pg, "a", {"x": 1}).deliveries} == {"enqueued"}


async def test_sql_publishes_in_the_callers_transaction_and_a_round_delivers(pg: Conn, dsn: str) -> None:
    trigger(pg, "good", event_name="a.b", payload={"x": "{{ event.x }}", "id": "{{ meta.event_id }}"})
    trigger(pg, "bad", event_name="a.*", payload={"x": "{{ event.nothing }}"})
    with pg.transaction(force_rollback=True):
        pg.execute("""select postmill.publish('a.b', '{"x": 0}')""")
    id = one(pg, """select postmill.publish('a.b', '{"x": 1}', correlation_id => 'c')""")
    assert many(pg, OUTCOMES) == [("bad", "pending"), ("good", "pending")]
    async with upkeep(dsn) as rounds:
        await rounds.deliver()
        assert rounds.counters.deliveries == {"enqueued": 1, "failed": 1}
        assert [it.label for it in rounds.told if isinstance(it, TriggerFailed)] == ["bad"]
        await rounds.deliver()
    assert many(pg, OUTCOMES) == [("bad", "failed"), ("good", "enqueued")]
    job = one(pg, "select to_jsonb(j) from postmill.job j")
    assert (job["payload"], job["source_ref"], job["correlation_id"]) == (
        {"x": 1, "id": str(id)},
        str(id),
        "c",
    )
    assert one(pg, "select error from postmill.trigger where label = 'bad'") == one(
        pg, "select detail from postmill.event_delivery where outcome = 'failed'"
    )


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("postmill.publish('a b')", "is no name of an event"),
        ("postmill.publish(null)", "is no name of an event"),
        ("postmill.publish('a', '[]')", "must be a JSON object, got array"),
        ("postmill.publish('a', tenant => '00000000-0000-0000-0000-0000000000ff')", "there is no tenant"),
    ],
)
def test_sql_says_what_is_wrong(pg: Conn, call: str, why: str) -> None:
    with pytest.raises(Exception, match=why):
        pg.execute(f"select {call}".encode())


async def test_a_publisher_waits_for_nobody_and_a_round_settles_it(
    pg: Conn, dsn: str, database: Database
) -> None:
    trigger(pg, "t", event_name="a")
    with database.connect() as slow:
        with slow.transaction():
            assert publish(slow, "a").deliveries[0].outcome == "enqueued"
            began = time.monotonic()
            late = publish(pg, "a")
            assert time.monotonic() - began < 30
            assert late.deliveries[0].outcome == "pending"
        async with upkeep(dsn, "2 seconds") as rounds:
            await rounds.deliver()
    assert many(pg, OUTCOMES) == [("t", "duplicate"), ("t", "enqueued")]


async def test_a_delivery_is_settled_once_whoever_comes(pg: Conn, dsn: str) -> None:
    """Ten deliverers, and a publisher that comes back late to what it wrote."""
    for n in range(30):
        trigger(pg, f"t{n:02}", event_name="a", dedupe_window_seconds=0)
    pg.execute("select postmill.publish('a')")
    made = [upkeep(dsn) for _ in range(10)]
    rounds = [await it.__aenter__() for it in made]
    await asyncio.gather(*(it.deliver() for it in rounds))
    for it in made:
        await it.__aexit__(None, None, None)
    pg.execute(
        "select postmill.deliver_events((select jsonb_agg(jsonb_build_object('event_id', event_id, 'trigger_id', trigger_id,"
        " 'payload', '{}'::jsonb)) from postmill.event_delivery))"
    )
    assert one(pg, "select count(*) from postmill.job") == 30


async def test_a_publisher_that_died_between_is_made_up_for(pg: Conn, dsn: str) -> None:
    """In autocommit the event is committed before it is rendered."""
    trigger(pg, "t", event_name="a")
    pg.execute("select * from postmill.publish_event('a', '{}', p_grace => '5 seconds')")
    async with upkeep(dsn) as rounds:
        await rounds.deliver()
    assert many(pg, OUTCOMES) == [("t", "pending")]
    async with upkeep(dsn, "6 seconds") as rounds:
        await rounds.deliver()
    assert many(pg, OUTCOMES) == [("t", "enqueued")]


async def test_a_sleeping_worker_hears_of_events_from_sql(pg: Conn, dsn: str) -> None:
    trigger(pg, "t", event_name="a")
    worker = Worker(dsn, Registry(), {"nothing": 1}, config=WorkerConfig(lease=6.0, grace=1.0))
    worker_task = asyncio.create_task(worker.run())
    try:
        await asyncio.wait_for(worker.ready.wait(), 30)
        pg.execute("select postmill.publish('a')")
        await until(lambda: many(pg, OUTCOMES) == [("t", "enqueued")], 5.0)
    finally:
        worker.drain()
        await worker_task


def test_old_events_and_ticks_are_swept(pg: Conn) -> None:
    trigger(pg, "t", event_name="a")
    publish(pg, "a")
    pg.execute(
        "insert into postmill.tick (trigger_id, due, tenant_id, outcome, fired_at) select id, postmill.now(), tenant_id,"
        " 'skipped', postmill.now() from postmill.trigger"
    )
    assert one(pg, "select postmill.sweep_triggers(100)") == 0
    pg.execute("set postmill.clock_offset = '31 days'")
    while one(pg, "select postmill.sweep_triggers(100)"):
        pass
    tables = ("event", "event_delivery", "tick", "trigger_recent")
    assert [one(pg, f"select count(*) from postmill.{table}") for table in tables] == [0, 0, 0, 0]


def test_clients_and_an_applications_role_publish(pg: Conn, dsn: str) -> None:
    trigger(pg, "t", event_name="a", payload={"x": "{{ event.x }}"})
    with Client(dsn) as client:
        assert client.publish("a", {"x": 1}).deliveries[0].outcome == "enqueued"
    pg.execute("create role publisher")
    try:
        pg.execute("select postmill.grant_application('publisher')")
        pg.execute("set role publisher")
        assert publish(pg, "a", {"x": 2}).deliveries[0].outcome == "enqueued"
        assert one(pg, "select postmill.publish('a') is not null")
    finally:
        pg.execute("reset role; drop owned by publisher; drop role publisher")
