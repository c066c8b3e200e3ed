"""Whatever happens to its jobs, a workflow ends as its policies say: compared with an oracle that knows no database."""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection

from postmill import start_workflow
from tests.support.flows import Dag, Fate, advance, expected, random_dag, status_of, steps_of, untolerated
from tests.support.sessions import WorkerSession, bury, complete, finish, one, put_back, wipe

JOB = """insert into postmill.queue (name) values ('default') on conflict do nothing;
insert into postmill.job_definition (key, queue, max_attempts) values ('work', 'default', 100)"""


def play(
    conn: Connection[Any], session: WorkerSession, dag: Dag, fates: dict[str, Fate], rng: random.Random
) -> tuple[UUID, dict[str, Fate]]:
    """Runs a workflow with losses, and cancels by hand; its id, and what each step came to by itself or by that hand."""
    id = start_workflow(conn, dag.workflow()).id
    by_hand: set[str] = set()
    idle = 0
    while idle < 3:
        held = session.claim(rng.choice((1, 7, 100)))
        names = {
            line: name
            for line in held
            for name in [one(conn, "select name from postmill.workflow_step where job_id = %s", line.id)]
        }
        lost = [line for line in held if rng.random() < 0.1]
        if lost:
            put_back(conn, lost, "lost", -1.0)
        kept = [line for line in held if line not in lost]
        for fate, report in (("succeeded", complete), ("failed", bury), ("canceled", finish)):
            some = [line for line in kept if fates[names[line]] == fate]
            if some:
                report(conn, some, *(["canceled"] if fate == "canceled" else []))  # type: ignore[operator]
        if rng.random() < 0.1:
            victim = rng.choice(list(dag.parents))
            job = one(
                conn,
                "select job_id from postmill.workflow_step where workflow_id = %s and name = %s",
                id,
                victim,
            )
            if one(conn, "select status from postmill.cancel_jobs(array[%s::uuid])", job) == "canceled":
                by_hand.add(victim)
        if rng.random() < 0.7 or not held:
            advance(conn)
        idle = 0 if held else idle + 1
    return id, fates | dict.fromkeys(by_hand, "canceled")


def by_hand_first(dag: Dag, own: dict[str, Fate], found: dict[str, str], hands: set[str]) -> dict[str, str]:
    """The oracle, where a step that was canceled by hand while it waited need not have become free."""
    free = Dag({name: {} if name in hands else after for name, after in dag.parents.items()})
    return expected(free, own)


def check(conn: Connection[Any], dag: Dag, id: UUID, own: dict[str, Fate], fates: dict[str, Fate]) -> None:
    found = {name: {"waiting": "blocked"}.get(state, state) for name, state in steps_of(conn, id).items()}
    hands = {name for name in own if own[name] != fates[name]} | {
        name for name, fate in fates.items() if own[name] == fate == "canceled" and found[name] == "canceled"
        and one(conn, "select cause is null and run = 0 from postmill.workflow_step s join postmill.outcome o using (job_id)"
                " where workflow_id = %s and name = %s", id, name)
    }  # fmt: skip
    want = by_hand_first(dag, own, found, hands)
    assert found == want
    status = status_of(conn, id)
    if "held" in want.values():
        assert status == "held"
    else:
        assert status == ("failed" if untolerated(dag, want) else "succeeded")
    blocked = one(conn, "select count(*) from postmill.blocked")
    assert blocked == sum(end in ("blocked", "held") for end in want.values())


FATES = st.sampled_from(("succeeded", "succeeded", "succeeded", "failed", "canceled"))


@st.composite
def flows(draw: st.DrawFn) -> tuple[Dag, dict[str, Fate]]:
    dag = Dag()
    fates: dict[str, Fate] = {}
    for n in range(draw(st.integers(1, 8))):
        parents = draw(st.sets(st.sampled_from([*dag.parents]), max_size=3)) if dag.parents else set()
        dag.parents[f"s{n}"] = {
            one: draw(st.sampled_from(("cancel", "continue", "hold"))) for one in sorted(parents)
        }
        fates[f"s{n}"] = draw(FATES)  # type: ignore[assignment]
    return dag, fates


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(made=flows(), seed=st.integers(0, 2**16))
def test_small_ones_end_as_their_policies_say(
    pg: Connection[Any], made: tuple[Dag, dict[str, Fate]], seed: int
) -> None:
    wipe(pg)
    pg.execute("delete from postmill.job_definition; " + JOB)
    dag, fates = made
    id, own = play(pg, WorkerSession(pg), dag, fates, random.Random(seed))
    check(pg, dag, id, own, fates)


def _big(conn: Connection[Any], steps: int, seed: int) -> None:
    rng = random.Random(seed)
    conn.execute(JOB)
    dag = random_dag(rng, steps)
    fates: dict[str, Fate] = {
        name: rng.choices(("succeeded", "failed", "canceled"), (90, 7, 3))[0]  # type: ignore[misc]
        for name in dag.parents
    }
    id, own = play(conn, WorkerSession(conn, lease=3600.0), dag, fates, rng)
    check(conn, dag, id, own, fates)


def test_two_hundred_jobs_end_as_their_policies_say(pg: Connection[Any]) -> None:
    _big(pg, 200, 1)


@pytest.mark.long
def test_ten_thousand_jobs_end_as_their_policies_say(pg: Connection[Any]) -> None:
    _big(pg, 10_000, 2)
