"""Law 1, for each kind of connection: the caller's transaction decides, and stays usable whatever is refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection

from postmill.bind import run
from postmill.client import enqueue
from postmill.domain.errors import (
    InactiveJobType,
    KeyTaken,
    SerializationConflict,
    SomeRefused,
    UnknownJobType,
)
from postmill.domain.idempotency import Mode
from postmill.domain.job import NewJob
from postmill.store.jobs import job_state
from tests.bind.callers import Caller
from tests.bind.job_types import greet, late, other
from tests.support.databases import Database
from tests.support.invariants import invariants

pytestmark = pytest.mark.matrix

Outside = Connection[Any]


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module."""
    return emptied


@pytest.fixture
def pg(lasting: Connection[Any]) -> Connection[Any]:
    """Its connection, too."""
    return lasting


@pytest.fixture(autouse=True)
def nothing_broken(outside: Outside) -> Iterator[None]:
    """Whatever the test did, no job is lost or doubled."""
    yield
    invariants(outside)


def count(outside: Outside, table: str = "any_job") -> int:
    row = outside.execute(f"select count(*) from postmill.{table}").fetchone()
    assert row is not None
    return int(row[0])


async def test_commit_keeps_one(caller: Caller, outside: Outside) -> None:
    await caller.begin()
    answer = await caller.enqueue(greet.new("Ada"))
    assert answer.created
    assert count(outside) == 0
    await caller.commit()
    (job,) = run(outside, job_state([answer.id]))
    assert (job.status, job.payload, job.max_attempts) == ("queued", {"name": "Ada", "n": 0}, 4)


async def test_rollback_keeps_none(caller: Caller, outside: Outside) -> None:
    # Nothing went through the session before: where it is unwrapped, this is the case with the phantom.
    await caller.begin()
    await caller.enqueue(greet.new())
    await caller.rollback()
    assert (count(outside), count(outside, "ready")) == (0, 0)


async def test_commit_keeps_many(caller: Caller, outside: Outside) -> None:
    await caller.begin()
    jobs = [greet.new("a\tb\\n\\\\ü\n", n=n) for n in range(450)]
    answers = await caller.enqueue_many(jobs)
    assert await caller.one() == 1
    assert count(outside) == 0
    await caller.commit()
    found = {job.id: job for job in run(outside, job_state([answer.id for answer in answers]))}
    assert [found[answer.id].payload for answer in answers] == [
        {"name": "a\tb\\n\\\\ü\n", "n": n} for n in range(450)
    ]
    assert (count(outside), count(outside, "ready"), count(outside, "intake")) == (450, 450, 0)


async def test_rollback_keeps_none_of_many(caller: Caller, outside: Outside) -> None:
    await caller.begin()
    await caller.enqueue_many([greet.new(n=n) for n in range(450)])
    await caller.enqueue_many([greet.using(key=str(n)).new() for n in range(5)])
    await caller.rollback()
    left = [count(outside, table) for table in ("any_job", "ready", "intake", "idempotency_key")]
    assert left == [0, 0, 0, 0]


async def test_duplicate_leaves_the_transaction_usable(caller: Caller, outside: Outside) -> None:
    await caller.begin()
    first = await caller.enqueue(greet.using(key="k").new("first"))
    second = await caller.enqueue(greet.using(key="k").new("second"))
    assert (first.created, second.created) == (True, False)
    assert first.id == second.id
    assert await caller.one() == 1
    await caller.commit()
    assert count(outside) == 1


async def test_refusal_leaves_the_transaction_usable(caller: Caller, outside: Outside) -> None:
    outside.execute("update postmill.job_definition set is_active = false where key = 'other'")
    await caller.begin()
    with pytest.raises(UnknownJobType, match="did you mean 'greet'"):
        await caller.enqueue(NewJob("grete"))
    assert await caller.one() == 1
    with pytest.raises(InactiveJobType):
        await caller.enqueue(other.new())
    with pytest.raises(InactiveJobType):
        await caller.enqueue(other.using(key="k").new())
    assert await caller.one() == 1
    outside.execute("update postmill.job_definition set is_active = true where key = 'other'")
    await caller.enqueue(greet.using(key="k").new())
    with pytest.raises(KeyTaken, match="'greet'"):
        await caller.enqueue(other.using(key="k").new())
    await caller.commit()
    assert count(outside) == 1


async def test_some_of_many_are_refused_and_the_others_kept(caller: Caller, outside: Outside) -> None:
    await caller.begin()
    jobs = [NewJob("grete") if n % 100 == 7 else greet.new(n=n) for n in range(300)]
    with pytest.raises(SomeRefused, match="3 of 300 jobs were refused; job 7: unknown job type") as refused:
        await caller.enqueue_many(jobs)
    assert sorted(refused.value.refused) == [7, 107, 207]
    assert await caller.one() == 1
    await caller.commit()
    assert count(outside) == 297


async def test_an_unknown_type_with_its_definition_is_registered(caller: Caller, outside: Outside) -> None:
    await caller.begin()
    assert (await caller.enqueue(late.new())).created
    answers = await caller.enqueue_many([late.new() for _ in range(250)])
    await caller.commit()
    assert all(answer.created for answer in answers)
    assert count(outside) == 251


async def test_every_option_arrives(caller: Caller, outside: Outside) -> None:
    moment = datetime(2031, 3, 30, 1, 30, tzinfo=UTC)
    made = greet.using(
        tenant=(tenant := uuid4()),
        project=(project := uuid4()),
        priority=-7,
        scheduled_for=moment,
        actor_type="api_key",
        actor_id="actor",
        request_id="request",
        correlation_id="correlation",
        traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        max_attempts=9,
        timeout=1.5,
        expires_at=moment,
        source="event",
        source_ref="ref",
    ).new("Ada")
    await caller.begin()
    by_one = await caller.enqueue(made)
    by_key = await caller.enqueue(made.using(key="k", mode=Mode.WINDOW, window=timedelta(days=1)))
    by_many = (await caller.enqueue_many([made, made]))[1]
    await caller.commit()
    for id, key in ((by_one.id, None), (by_key.id, "k"), (by_many.id, None)):
        (job,) = run(outside, job_state([id]))
        assert (job.tenant_id, job.project_id, job.priority, job.max_attempts) == (tenant, project, -7, 9)
        assert (job.status, job.scheduled_for, job.source, job.source_ref) == (
            "scheduled",
            moment,
            "event",
            "ref",
        )
        assert (job.actor_type, job.actor_id, job.request_id) == ("api_key", "actor", "request")
        assert (job.correlation_id, job.traceparent, job.key) == ("correlation", made.traceparent, key)
        row = outside.execute(
            "select timeout_seconds, expires_at from postmill.any_job where id = %s", [id]
        ).fetchone()
        assert row == (1.5, moment)


async def test_a_delay_is_exact_across_a_change_of_the_clocks(caller: Caller, outside: Outside) -> None:
    """An interval of 365 days would be off by an hour in a session whose zone has summer time in between."""
    outside.execute("alter role current_user set timezone = 'Europe/Amsterdam'")
    try:
        await caller.close()
        await caller.open()
        await caller.begin()
        jobs = [made.new() for made in (greet.using(delay=timedelta(days=30 * n)) for n in range(1, 13))]
        ids = [(await caller.enqueue(job)).id for job in jobs]
        ids += [answer.id for answer in await caller.enqueue_many(jobs)]
        ids += [answer.id for answer in await caller.enqueue_many(jobs * 20)]
        await caller.commit()
    finally:
        outside.execute("alter role current_user reset timezone")
    rows = outside.execute(
        "select extract(epoch from scheduled_for - created_at)::float8 from postmill.any_job"
    ).fetchall()
    assert len(rows) == len(ids) == 12 + 12 + 240
    assert {row[0] for row in rows} == {n * 30 * 86400.0 for n in range(1, 13)}


async def test_a_conflict_above_read_committed_is_a_typed_error(caller: Caller, outside: Outside) -> None:
    await caller.begin()
    await caller.execute("set transaction isolation level repeatable read")
    assert await caller.one() == 1  # the snapshot is taken
    job = greet.using(key="k").new()
    enqueue(outside, job)
    with pytest.raises(SerializationConflict):
        await caller.enqueue(job)
    assert await caller.one() == 1
    assert (await caller.enqueue(greet.new())).created
    await caller.commit()
    assert count(outside) == 2


async def test_ids_are_uuids(caller: Caller) -> None:
    await caller.begin()
    answer = await caller.enqueue(greet.new())
    await caller.rollback()
    assert isinstance(answer.id, UUID)
    assert answer.id.version == 7
