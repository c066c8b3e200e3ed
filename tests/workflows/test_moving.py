"""Workflows step by step, moved on by hand."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection

from postmill import Batch, NewJob, Workflow, start_batch, start_workflow
from postmill.domain.errors import UnknownJobType, WorkflowRefused
from tests.support.flows import advance, status_of, steps_of
from tests.support.sessions import WorkerSession, bury, complete, one

pytestmark = pytest.mark.matrix

JOB = """insert into postmill.queue (name) values ('default') on conflict do nothing;
insert into postmill.job_definition (key, queue, max_attempts) values ('work', 'default', 3), ('undo', 'default', 3)"""


def run(conn: Connection[Any], session: WorkerSession, *bad: str, only: str | None = None) -> list[str]:
    """Runs what is ready, in one report each for what succeeds and what does not; the names (or types) that ran."""
    held = session.claim(1000)
    named = {
        line: one(
            conn, "select coalesce(payload ->> 'name', job_type) from postmill.any_job where id = %s", line.id
        )
        for line in held
    }
    good = [line for line in held if named[line] not in bad]
    if good:
        complete(conn, good, '{"n": 1}')
    dead = [line for line in held if named[line] in bad]
    if dead:
        bury(conn, dead, "max_retries_exceeded")
    advance(conn)
    return sorted(named.values())


def job(name: str, job_type: str = "work") -> NewJob:
    return NewJob.of(job_type, {"name": name})


def seed_one() -> Workflow:
    flow = Workflow("site preview", key="site:1")
    flow.add("upload", job("upload"), after="compress", compensate=job("purge", "undo"))
    flow.add("compress", job("compress"), after={"capture": "cancel"}, compensate=job("unlink", "undo"))
    flow.add("capture", job("capture"), compensate=job("delete", "undo"))
    flow.add("announce", job("announce"), after=["upload"])
    return flow


def test_steps_wait_for_their_parents_and_a_failure_is_taken_back_in_reverse(pg: Connection[Any]) -> None:
    pg.execute(JOB)
    session = WorkerSession(pg)
    started = start_workflow(pg, seed_one())
    again = start_workflow(pg, seed_one())
    assert started.created
    assert (again.id, again.created) == (started.id, False)
    assert run(pg, session) == ["capture"]
    assert run(pg, session) == ["compress"]
    assert run(pg, session) == ["upload"]
    assert steps_of(pg, started.id)["announce"] == "open"
    assert run(pg, session, "announce") == ["announce"]
    assert status_of(pg, started.id) == "compensating"
    assert [run(pg, session) for _ in range(3)] == [["purge"], ["unlink"], ["delete"]]
    assert status_of(pg, started.id) == "failed"
    assert start_workflow(pg, seed_one()).created


def test_a_refusal_makes_nothing_and_says_why(pg: Connection[Any]) -> None:
    pg.execute(JOB)
    flow = Workflow("loop")
    flow.add("a", job("a"), after="c")
    flow.add("b", job("b"), after="a")
    flow.add("c", job("c"), after="b")
    with pytest.raises(WorkflowRefused, match=r"circle: a → . → . → a"):
        start_workflow(pg, flow)
    lost = Workflow("lost")
    lost.add("compress", job("a"), after="captur")
    lost.add("capture", job("b"))
    with pytest.raises(WorkflowRefused, match="'captur', which is no step of 'lost'; did you mean 'capture'"):
        start_workflow(pg, lost)
    with pytest.raises(WorkflowRefused, match="already"):
        lost.add("capture", job("b"))
    with pytest.raises(WorkflowRefused, match="0 steps"):
        start_workflow(pg, Workflow("empty"))
    wide = Workflow("wide")
    for n in range(10_001):
        wide.add(str(n), job("x"))
    with pytest.raises(WorkflowRefused, match="10001 steps; it must have 1 to 10000"):
        start_workflow(pg, wide)
    strange = Workflow("strange")
    strange.add("a", job("a"))
    strange.add("b", NewJob.of("wrok"), after="a")
    with pytest.raises(UnknownJobType, match="wrok"):
        start_workflow(pg, strange)
    for steps, why in (
        (
            '[{"name": "a", "job_type": "work", "after": ["b"]}, {"name": "b", "job_type": "work"}]',
            "comes later",
        ),
        ('[{"name": "a", "job_type": "work"}, {"name": "a", "job_type": "work"}]', "there twice"),
        ('[{"name": "a", "job_type": "work", "after": ["z"]}]', "is no step"),
        ('[{"name": "a", "job_type": "work", "after": ["a"]}]', "comes later"),
        ('[{"job_type": "work"}]', "must have 1 to 200"),
        ('["a"]', "must be an object"),
        ("[]", "there are none"),
        ('[{"name": "a", "job_type": "work", "priority": "soon"}]', "priority: must be a whole number"),
        ('[{"name": "a", "job_type": "work", "parent_failure": "pray"}]', "none of cancel"),
    ):
        status, detail = one(
            pg,
            """select status, detail from postmill.start_workflow(
            jsonb_build_object('name', 'sql', 'steps', %s::jsonb))""",
            steps,
        )
        assert (status, why in detail) == ("invalid", True), detail
    counts = one(
        pg,
        """select (select count(*) from postmill.workflow), (select count(*) from postmill.workflow_step),
        (select count(*) from postmill.any_job), (select count(*) from postmill.blocked)""",
    )
    assert counts == (0, 0, 0, 0)


def test_policies_hold_release_replay_and_cancel(pg: Connection[Any]) -> None:
    pg.execute(JOB)
    session = WorkerSession(pg)
    flow = Workflow("policies")
    flow.add("a", job("a"))
    flow.add("goes on", job("goes on"), after="a", parent_failure="continue")
    flow.add("held", job("held"), after="a", parent_failure="hold")
    flow.add("canceled", job("canceled"), after="a")
    flow.add("below", job("below"), after="canceled")
    id = start_workflow(pg, flow).id
    assert run(pg, session, "a") == ["a"]
    assert steps_of(pg, id) == {
        "a": "failed",
        "goes on": "open",
        "held": "held",
        "canceled": "canceled",
        "below": "canceled",
    }
    assert run(pg, session) == ["goes on"]
    assert status_of(pg, id) == "held"
    # A replay of the dead step goes on with all that was waiting, held or canceled for its sake.
    dead = one(pg, "select id from postmill.dead_letter")
    status = one(pg, "select status from postmill.replay_jobs(array[%s::uuid])", dead)
    assert status == "replayed"
    advance(pg)
    assert steps_of(pg, id) == {
        "a": "open",
        "goes on": "succeeded",
        "held": "waiting",
        "canceled": "waiting",
        "below": "waiting",
    }
    assert run(pg, session) == ["a"]
    assert run(pg, session) == ["canceled", "held"]
    assert run(pg, session) == ["below"]
    assert status_of(pg, id) == "succeeded"
    # Released by hand.
    second = start_workflow(pg, flow).id
    run(pg, session, "a")
    run(pg, session)
    assert one(pg, "select postmill.release_steps(%s)", second) == 1
    advance(pg)
    assert run(pg, session) == ["held"]
    assert status_of(pg, second) == "failed"
    # Canceled as a whole, with one step running.
    third = start_workflow(pg, flow).id
    held = session.claim(10)
    assert one(pg, "select status, jobs from postmill.cancel_workflow(%s)", third) == ("canceled", 5)
    advance(pg)
    assert status_of(pg, third) == "running"
    complete(pg, held)
    advance(pg)
    assert steps_of(pg, third) == {"a": "succeeded"} | dict.fromkeys(
        ("goes on", "held", "canceled", "below"), "canceled"
    )
    assert status_of(pg, third) == "canceled"
    retried = pg.execute(
        "select name, status from postmill.retry_workflow(%s) order by name", [third]
    ).fetchall()
    assert retried == [(name, "replayed") for name in ("below", "canceled", "goes on", "held")]
    advance(pg)
    assert run(pg, session) == ["canceled", "goes on", "held"]
    assert run(pg, session) == ["below"]
    assert status_of(pg, third) == "succeeded"
    assert one(pg, "select count(*) from postmill.blocked") == 0


def test_batches_count_and_call_back(pg: Connection[Any]) -> None:
    pg.execute(JOB)
    session = WorkerSession(pg)
    batch = Batch("letters", on_success=job("all well", "undo"), on_finish=job("over", "undo"))
    id = start_batch(pg, batch, (job(f"j{n}") for n in range(2500))).id
    assert one(pg, "select total, sealed from postmill.workflow where id = %s", id) == (2500, True)
    ran = [name for _ in range(3) for name in run(pg, session)]
    assert len(ran) == 2500
    assert one(pg, "select status, succeeded from postmill.workflow where id = %s", id) == ("succeeded", 2500)
    assert run(pg, session) == ["all well", "over"]
    second = start_batch(pg, batch, [job("good"), job("bad")]).id
    run(pg, session, "bad")
    assert status_of(pg, second) == "failed"
    assert run(pg, session) == ["over"]
    third = start_batch(pg, batch, []).id
    advance(pg)
    assert status_of(pg, third) == "succeeded"
