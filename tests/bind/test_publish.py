"""Law 1 for events: on each kind of connection the caller's transaction decides over the event and its jobs."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from postmill.domain.errors import NotFound, PayloadRefused
from tests.bind.callers import Caller
from tests.support.databases import Database

Outside = Connection[Any]


@pytest.fixture
def database(emptied: Database, lasting: Connection[Any]) -> Database:
    """One for the whole module, in which nobody waits for an event and none ever came."""
    lasting.execute(
        "delete from postmill.event_delivery; delete from postmill.event; delete from postmill.trigger"
    )
    return emptied


def wait_for(outside: Outside, name: str, payload: dict[str, Any], job: str = "greet") -> None:
    outside.execute(
        "insert into postmill.trigger (label, trigger_type, event_name, payload_template, definition_id)"
        " select %s, 'event', %s, %s, d.id from postmill.job_definition d where d.key = %s",
        (name, name, Jsonb(payload), job),
    )


def counts(outside: Outside) -> tuple[int, int, int]:
    row = outside.execute(
        "select (select count(*) from postmill.event), (select count(*) from postmill.event_delivery),"
        " (select count(*) from postmill.any_job)"
    ).fetchone()
    assert row is not None
    return row  # type: ignore[no-any-return]


async def test_commit_keeps_the_event_and_its_jobs(caller: Caller, outside: Outside) -> None:
    wait_for(outside, "user.created", {"name": "{{ event.name }}", "n": "{{ event.n }}"})
    wait_for(outside, "user.*", {"name": "{{ event.nothing }}"})
    wait_for(outside, "order.*", {})
    await caller.begin()
    made = await caller.publish("user.created", {"name": "Ada", "n": 3}, correlation_id="c-1")
    assert await caller.one() == 1
    assert counts(outside) == (0, 0, 0)
    await caller.commit()
    assert counts(outside) == (1, 2, 1)
    assert {it.label: it.outcome for it in made.deliveries} == {
        "user.created": "enqueued",
        "user.*": "failed",
    }
    row = outside.execute(
        "select payload, source, source_ref, correlation_id from postmill.any_job"
    ).fetchone()
    assert row == ({"name": "Ada", "n": 3}, "event", str(made.id), "c-1")


async def test_rollback_keeps_nothing(caller: Caller, outside: Outside) -> None:
    wait_for(outside, "user.created", {})
    await caller.begin()
    assert (await caller.publish("user.created", {})).deliveries[0].outcome == "enqueued"
    await caller.rollback()
    assert counts(outside) == (0, 0, 0)
    # Nor does the dedupe window speak of what never was.
    await caller.begin()
    assert (await caller.publish("user.created", {})).deliveries[0].outcome == "enqueued"
    await caller.commit()
    assert counts(outside) == (1, 1, 1)


async def test_a_refusal_leaves_the_transaction_usable(caller: Caller, outside: Outside) -> None:
    await caller.begin()
    with pytest.raises(PayloadRefused, match="name"):
        await caller.publish("no name", {})
    with pytest.raises(PayloadRefused, match=r"context\.a: .*NUL"):
        await caller.publish("user.created", {"a": "\0"})
    with pytest.raises(NotFound, match="there is no tenant"):
        await caller.publish("user.created", {}, tenant="00000000-0000-0000-0000-0000000000ff")
    assert await caller.one() == 1
    assert (await caller.publish("user.created", {})).deliveries == ()
    await caller.commit()
    assert counts(outside) == (1, 0, 0)
