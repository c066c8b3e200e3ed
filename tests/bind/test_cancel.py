"""Law 1 for cancel, for each kind of connection: it counts when the caller commits, and no answer ends a transaction."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection

from postmill.bind import run
from postmill.client import Client, acancel, cancel, enqueue
from postmill.domain.errors import NotFound, PayloadRefused, SchemaMissing, SerializationConflict
from postmill.domain.job import JobView
from postmill.store.jobs import job_state
from tests.bind.callers import Caller
from tests.bind.job_types import greet
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.sessions import WorkerSession, complete

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


def state_of(outside: Outside, id: UUID) -> JobView:
    (job,) = run(outside, job_state([id]))
    return job


async def test_commit_cancels(caller: Caller, outside: Outside) -> None:
    runs = enqueue(outside, greet.new()).id
    worker = WorkerSession(outside)
    held = worker.claim()
    waits, later = enqueue(outside, greet.new()).id, enqueue(outside, greet.using(delay=3600).new()).id
    await caller.begin()
    answer = await caller.cancel(waits, reason="wrong customer", actor_type="api_key", actor_id="k1")
    assert (answer.id, answer.status) == (waits, "canceled")
    assert [(await caller.cancel(id)).status for id in (str(later), runs)] == ["canceled", "requested"]
    assert await caller.one() == 1
    assert [state_of(outside, id).status for id in (waits, later)] == ["queued", "scheduled"]
    assert worker.claim() == [], "nobody takes what is about to be canceled"
    await caller.commit()
    job = state_of(outside, waits)
    assert (job.status, job.reason, state_of(outside, later).status) == (
        "canceled",
        "wrong customer",
        "canceled",
    )
    asked = state_of(outside, runs)
    assert (asked.status, asked.worker_id, asked.cancel_requested) == ("running", "test", True)
    assert complete(outside, held) == set(), "what the handler does about it is its own affair"


async def test_rollback_does_not(caller: Caller, outside: Outside) -> None:
    # Nothing went through the session before: where it is unwrapped, this is the case with the phantom.
    enqueue(outside, greet.new())
    (runs,) = WorkerSession(outside).claim(1)
    waits = enqueue(outside, greet.new()).id
    await caller.begin()
    assert [(await caller.cancel(id)).status for id in (runs.id, waits)] == ["requested", "canceled"]
    await caller.rollback()
    assert [state_of(outside, id).status for id in (runs.id, waits)] == ["running", "queued"]
    assert not state_of(outside, runs.id).cancel_requested


async def test_what_cannot_be_canceled_is_told_and_the_transaction_goes_on(
    caller: Caller, outside: Outside
) -> None:
    ended = enqueue(outside, greet.new()).id
    complete(outside, WorkerSession(outside).claim())
    await caller.begin()
    assert (await caller.cancel(ended)).status == "finished"
    for unknown, said in ((uuid4(), "there is no job"), ("17", "a job id is a UUID")):
        with pytest.raises(NotFound, match=said):
            await caller.cancel(unknown)
    with pytest.raises(PayloadRefused, match="reason: "):
        await caller.cancel(ended, reason="a\0b")
    with pytest.raises(PayloadRefused, match="actor_type: 'robot' is none of: user, system, api_key"):
        await caller.cancel(ended, actor_type="robot")
    assert await caller.one() == 1
    own = (await caller.enqueue(greet.new())).id
    assert (await caller.cancel(own)).status == "canceled", "of a job that this transaction has made"
    await caller.commit()
    assert (state_of(outside, own).status, state_of(outside, ended).status) == ("canceled", "succeeded")


async def test_a_conflict_above_read_committed_is_a_typed_error(caller: Caller, outside: Outside) -> None:
    id = enqueue(outside, greet.new()).id
    await caller.begin()
    await caller.execute("set transaction isolation level repeatable read")
    assert await caller.one() == 1  # the snapshot is taken
    WorkerSession(outside).claim()
    with pytest.raises(SerializationConflict, match="retry yours"):
        await caller.cancel(id)
    assert await caller.one() == 1
    assert (await caller.enqueue(greet.new())).created
    await caller.commit()
    assert not state_of(outside, id).cancel_requested


def test_in_autocommit_mode_each_call_counts_at_once(outside: Outside) -> None:
    id = enqueue(outside, greet.new()).id
    assert cancel(outside, id).status == "canceled"
    assert cancel(outside, id).status == "finished"


def test_a_database_without_the_schema_says_what_to_do(empty_database: Database, outside: Outside) -> None:
    with empty_database.connect() as conn, pytest.raises(SchemaMissing, match="run: postmill migrate"):
        cancel(conn, uuid4())


def test_the_options_are_those_of_the_client() -> None:
    def options(function: Any) -> list[inspect.Parameter]:
        return [
            p
            for p in inspect.signature(function).parameters.values()
            if p.name not in ("conn", "self", "schema")
        ]

    assert options(cancel) == options(acancel) == options(Client.cancel)
