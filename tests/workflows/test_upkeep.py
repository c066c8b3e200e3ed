"""Upkeep of workflows: what nobody told of is found, what is past its retention goes."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from postmill import Batch, NewJob, Workflow, start_batch, start_workflow
from tests.support.flows import advance, status_of, steps_of
from tests.support.sessions import WorkerSession, bury, complete, one, shifted

pytestmark = pytest.mark.matrix

JOB = """insert into postmill.queue (name) values ('default') on conflict do nothing;
insert into postmill.job_definition (key, queue, max_attempts) values ('work', 'default', 3)"""


def chain(conn: Connection[Any], *names: str, **options: Any) -> UUID:
    flow = Workflow("chain", **options)
    for n, name in enumerate(names):
        flow.add(name, NewJob.of("work", {"name": name}), after=names[max(0, n - 1) : n])
    return start_workflow(conn, flow).id


def look(conn: Connection[Any], most: int = 5000) -> int:
    """As if nothing had moved for a while."""
    conn.execute("update postmill.workflow set looked_at = looked_at - interval '2 min'")
    return int(one(conn, "select postmill.look_after_workflows('1 min', %s)", most))


def test_what_nobody_told_of_is_found(pg: Connection[Any]) -> None:
    """By a look a minute later, a part of a workflow at a time; what moves by itself is left alone."""
    pg.execute(JOB)
    session = WorkerSession(pg, lease=3600.0)
    first, second, third = chain(pg, "a", "b"), chain(pg, "a", "b", "c"), chain(pg, "a", "b")
    held = {line.workflow: line for line in session.claim(3)}
    complete(pg, [held[first]])
    bury(pg, [held[second]])
    pg.execute("delete from postmill.workflow_inbox")
    advance(pg)
    assert steps_of(pg, first) == {"a": "open", "b": "waiting"}
    assert one(pg, "select postmill.look_after_workflows('1 min', 5000)") == 0
    assert look(pg) == 2
    advance(pg)
    assert steps_of(pg, first) == {"a": "succeeded", "b": "open"}
    assert steps_of(pg, second) == {"a": "failed", "b": "canceled", "c": "canceled"}
    assert status_of(pg, second) == "failed"
    assert look(pg) == 0

    # A part at a time, each going on where the last one ended.
    complete(pg, [held[third]])
    complete(pg, session.claim(1))
    pg.execute("delete from postmill.workflow_inbox")
    assert [look(pg, 1) for _ in range(3)] == [1, 1, 0]
    advance(pg)
    assert status_of(pg, first) == "succeeded"

    # A child that waits for more than there is, and nothing on its way: everything is counted anew.
    pg.execute("update postmill.workflow_step set waits = 7 where workflow_id = %s and name = 'b'", [third])
    pg.execute(
        "update postmill.workflow_step set state = 'waiting' where workflow_id = %s and name = 'b'", [third]
    )
    pg.execute(
        """with r as (delete from postmill.ready returning id, queue, lane, priority, attempt, run, lost)
           insert into postmill.blocked (id, queue, lane, priority, attempt, run, lost) select * from r"""
    )
    advance(pg)
    assert session.claim(1) == []
    assert look(pg) == 1
    advance(pg)
    complete(pg, session.claim(1))
    advance(pg)
    assert status_of(pg, third) == "succeeded"

    # An open batch without jobs waits for people, not for repair.
    batch = start_batch(pg, Batch("quiet"), []).id
    pg.execute(
        "update postmill.workflow set sealed = false, finished_at = null, status = 'running' where id = %s",
        [batch],
    )
    pg.execute("delete from postmill.workflow_inbox")
    assert look(pg) == 0


def test_what_is_past_its_retention_goes(pg: Connection[Any]) -> None:
    """With its steps, a part at a time; what lives, and what has a callback to make, stays."""
    pg.execute(JOB)
    session = WorkerSession(pg, lease=3600.0)
    note = NewJob.of("work", {"note": True})
    old, dead, telling = chain(pg, "a", "b", "c"), chain(pg, "d", "e"), chain(pg, "x", on_finish=note)
    for _ in range(3):
        held = session.claim(10)
        told = [line for line in held if line.workflow == dead]
        complete(pg, [line for line in held if line not in told])
        if told:
            bury(pg, told)
        advance(pg)
        if status_of(pg, telling) == "succeeded":
            break
    while line := [one for one in session.claim(10) if one.workflow == old]:
        complete(pg, line)
        advance(pg)
    live = chain(pg, "a")
    assert [status_of(pg, id) for id in (old, dead, telling, live)] == [
        "succeeded",
        "failed",
        "succeeded",
        "running",
    ]
    assert one(pg, "select postmill.prune_workflows(5000)") == 5000
    with shifted(pg, "91 days"):
        left = [one(pg, "select postmill.prune_workflows(2)") for _ in range(4)]
    assert left == [0, 0, 1, 2]
    found = pg.execute("select id from postmill.workflow order by id").fetchall()
    assert found == sorted([(telling,), (live,)])
    for table in ("workflow_step", "workflow_edge"):
        assert one(pg, f"select count(*) from postmill.{table} where workflow_id in (%s, %s)", old, dead) == 0
    # A dead letter that outlives its workflow is replayed as a job by itself.
    letter = one(pg, "select id from postmill.dead_letter")
    assert one(pg, "select status from postmill.replay_jobs(array[%s::uuid])", letter) == "replayed"
    assert [line.workflow for line in session.claim(10) if line.workflow not in (live, telling)] == [None]


def test_a_callback_that_died_is_replayed_and_the_end_stays(pg: Connection[Any]) -> None:
    pg.execute(JOB)
    session = WorkerSession(pg, lease=3600.0)
    id = start_batch(
        pg, Batch("letters", on_finish=NewJob.of("work", {"note": True})), [NewJob.of("work")]
    ).id
    complete(pg, session.claim(1))
    advance(pg)
    bury(pg, session.claim(1))
    advance(pg)
    letter = one(pg, "select id from postmill.dead_letter")
    assert one(pg, "select status from postmill.replay_jobs(array[%s::uuid])", letter) == "replayed"
    advance(pg)
    assert status_of(pg, id) == "succeeded"
    assert one(pg, "select state from postmill.workflow_step where role = 'on_finish'") == "open"
    complete(pg, session.claim(10))
    advance(pg)
    assert session.claim(10) == []
    rows = pg.execute(
        "select role, state from postmill.workflow_step where workflow_id = %s order by no", [id]
    ).fetchall()
    assert rows == [("step", "succeeded"), ("on_finish", "succeeded")]
