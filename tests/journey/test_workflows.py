"""Workflows on real workers that are killed and started again at random moments, with steps that fail as their names say
and cancels by hand: each step ends as an oracle says that knows no database, and what ran left its traces."""

from __future__ import annotations

import random
import sys
import time

import pytest

from postmill import Workflow, start_workflow
from tests.journey import flow_handlers as handlers
from tests.journey.conftest import Journey
from tests.journey.flow_checks import check_steps, check_traces, check_undone
from tests.journey.flow_oracle import steps, wanted
from tests.journey.storm import Storm
from tests.support.eventually import eventually
from tests.support.flows import Dag, random_dag, status_of, untolerated

LATE = "late"
"""A step that is due tomorrow: a workflow with it does not end by itself."""


def made(dag: Dag, name: str, rng: random.Random, undo: float, fan: bool, **options: bool) -> Workflow:
    flow = Workflow(name, **options)  # type: ignore[arg-type]
    for step, after in dag.parents.items():
        back = handlers.undo.new(name=step) if rng.random() < undo else None
        job = handlers.step.using(delay=86_400.0 if step == LATE else None).new(name=step, fan=fan)
        flow.add(step, job, after=after, compensate=back)
    return flow


def storm_over(
    journey: Journey,
    *,
    wide: int,
    fan: bool,
    small: int,
    workers: int,
    kills: int,
    cancels: int,
    pause: tuple[float, float],
    seed: int,
    patience: float,
) -> dict[str, int | float]:
    """One workflow of `wide` steps, and two of `small` ones: one is canceled as a whole, one fails fast. `kills` kills
    and up to `cancels` cancels of single steps, one a pause. Figures."""
    rng = random.Random(seed)
    storm = Storm(journey, rng)
    journey.conn.execute("select postmill.register_job_types(%s)", [handlers.REGISTER])
    dags = [random_dag(rng, wide), random_dag(rng, small), random_dag(rng, small)]
    dags[1].parents[LATE] = {}
    flows = [
        start_workflow(journey.conn, flow).id
        for flow in (
            made(dags[0], "great", rng, 0.02, fan),
            made(dags[1], "canceled", rng, 0.5, True),
            made(dags[2], "fast", rng, 0.5, True, fail_fast=True),
        )
    ]
    great, whole, fast = flows
    storm.workers = [storm.start() for _ in range(workers)]
    journey.fleet.ready(journey.conn, workers)
    began = time.monotonic()
    canceled = False
    while not storm.over(flows) or not canceled or storm.kills < kills:
        assert time.monotonic() - began < patience, journey.all("select * from postmill.workflow")
        time.sleep(rng.uniform(*pause))
        if storm.kills < kills:
            storm.kill()
        if len(storm.asked) < cancels:
            storm.cancel(great)
        done = journey.one("select succeeded + failed from postmill.workflow where id = %s", whole)
        if not canceled and done > rng.uniform(0.1, 0.5) * small:
            assert journey.one("select status from postmill.cancel_workflow(%s)", whole) == "canceled"
            canceled = True
    took = time.monotonic() - began
    check_steps(journey, great, dags[0], storm, released=False, fan=fan)
    rounds = 0
    while status_of(journey.conn, great) == "held":
        rounds += 1
        assert journey.one("select postmill.release_steps(%s)", great) > 0
        if kills > 2:
            storm.kill()
        eventually(lambda: storm.over([great]), patience, "the great one goes on")
    dag, want = check_steps(journey, great, dags[0], storm, released=True, fan=fan)
    assert status_of(journey.conn, great) == ("failed" if untolerated(dag, want) else "succeeded")
    undone = check_undone(journey, great)
    assert status_of(journey.conn, whole) == "canceled"
    assert status_of(journey.conn, fast) == "failed"
    for flow, dag in ((whole, dags[1]), (fast, dags[2])):
        found = steps(journey, flow)
        _, alone = wanted(dag, storm, found, released=False)
        assert {end for end, _ in found.values()} <= {"succeeded", "failed", "canceled"}
        other = {
            name: (end, alone.get(name))
            for name, (end, _) in found.items()
            if end not in ("canceled", alone.get(name))
        }
        assert other == {}
        undone += check_undone(journey, flow)
    for flow in flows:
        check_traces(journey, flow)
    journey.finish(patience)
    counts = {
        end: sum(1 for one in want.values() if one == end) for end in ("succeeded", "failed", "canceled")
    }
    lost = journey.one("select count(*) from postmill.attempt where status = 'lost'")
    return counts | {
        "kills": storm.kills, "by hand": len(storm.asked), "lost": lost, "undone": undone, "released in": rounds, "seconds": took,
    }  # fmt: skip


def test_a_storm_over_some_hundred_steps(journey: Journey) -> None:
    storm_over(
        journey,
        wide=180,
        fan=True,
        small=30,
        workers=2,
        kills=2,
        cancels=6,
        pause=(0.1, 0.5),
        seed=1,
        patience=60,
    )


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_storm_over_ten_thousand_steps(journey: Journey) -> None:
    figures = storm_over(
        journey,
        wide=10_000,  # as many as there may be: none may add to them
        fan=False,
        small=400,
        workers=6,
        kills=100,
        cancels=200,
        pause=(0.2, 1.5),
        seed=2,
        patience=1800,
    )
    sys.stderr.write(f"{figures}\n")
