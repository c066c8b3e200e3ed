"""Workflows on real workers that are killed and started again at random moments, with steps that fail as their names say
and cancels by hand: each step ends as an oracle says that knows no database, and what ran left its traces."""

from __future__ import annotations

import random
import sys
import time
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from postmill import Workflow, start_workflow
from tests.journey import flow_handlers as handlers
from tests.journey.conftest import Journey
from tests.support.eventually import eventually
from tests.support.fleet import WorkerProcess
from tests.support.flows import Dag, Fate, expected, grown, random_dag, status_of, untolerated

MODULE = "tests.journey.flow_handlers"
SETTINGS = {"POSTMILL_WORKER__LEASE": "2", "POSTMILL_RETRY__MAX_LOST": "1000"}


def made(dag: Dag, name: str, rng: random.Random, undo: float, **options: bool) -> Workflow:
    flow = Workflow(name, **options)  # type: ignore[arg-type]
    for step, after in dag.parents.items():
        back = handlers.undo.new(name=step) if rng.random() < undo else None
        flow.add(step, handlers.step.new(name=step), after=after, compensate=back)
    return flow


@dataclass
class Storm:
    """Kills of workers and cancels of jobs, at random moments."""

    journey: Journey
    rng: random.Random
    workers: list[WorkerProcess] = field(default_factory=list)
    kills: int = 0
    asked: set[UUID] = field(default_factory=set)
    """Jobs that somebody asked to cancel while they ran or waited."""
    ended: set[UUID] = field(default_factory=set)
    """Those of them that waited: they are over."""

    def start(self) -> WorkerProcess:
        return self.journey.fleet.start("--queues", "default=8", module=MODULE, settings=SETTINGS)

    def kill(self) -> None:
        """One of the workers, which another follows."""
        at = self.rng.randrange(len(self.workers))
        self.workers[at].kill()
        self.workers[at] = self.start()
        self.kills += 1

    def cancel(self, flow: UUID) -> None:
        """Some step that has not ended."""
        job = self.journey.all(
            "select job_id from postmill.workflow_step where workflow_id = %s and state in ('waiting', 'held', 'open')"
            " and role = 'step' order by md5(no::text || %s) limit 1", flow, str(self.rng.random()),
        )  # fmt: skip
        for (id,) in job:
            status = self.journey.one("select status from postmill.cancel_jobs(array[%s::uuid])", id)
            self.asked |= {id} if status in ("canceled", "requested") else set()
            self.ended |= {id} if status == "canceled" else set()

    def over(self, flows: list[UUID]) -> bool:
        """Is none of them on its way? One that is held is not."""
        return bool(
            self.journey.one(
                """select bool_and(status not in ('running', 'compensating')) and not exists (
                       select from postmill.workflow_inbox) from postmill.workflow where id = any (%s)""",
                flows,
            )
        )


def steps(journey: Journey, flow: UUID) -> dict[str, tuple[str, UUID]]:
    rows = journey.all(
        "select name, state, job_id from postmill.workflow_step where workflow_id = %s and role = 'step'",
        flow,
    )
    return {name: ({"waiting": "blocked"}.get(state, state), job) for name, state, job in rows}


def ran(journey: Journey, flow: UUID) -> set[str]:
    """The steps that left a trace on their own connection, which no rollback takes back."""
    rows = journey.all(
        "select distinct event from probe join postmill.workflow_step s using (job_id)"
        " where s.workflow_id = %s and s.role = 'step'",
        flow,
    )
    return {event for (event,) in rows}


def wanted(
    dag: Dag, storm: Storm, found: dict[str, tuple[str, UUID]], *, released: bool
) -> tuple[Dag, dict[str, str]]:
    """The oracle's answer, as far as it may know: of a step that was to be canceled while it ran it believes what came of it."""
    hands = {name for name, (_, job) in found.items() if job in storm.ended}
    canceled = hands | {
        name for name, (end, job) in found.items() if job in storm.asked and end == "canceled"
    }

    def own(name: str) -> Fate:
        return "canceled" if name in canceled else handlers.fate(name)

    whole = grown(dag, own, handlers.fans)
    freed = {
        name: {}
        if name in hands
        else {p: "continue" if released and how == "hold" else how for p, how in after.items()}
        for name, after in whole.parents.items()
    }
    ends = expected(Dag(freed), {name: own(name) for name in freed})
    makers = {one: name for name in dag.parents for one in handlers.fans(name)}
    return whole, {
        name: end for name, end in ends.items() if name not in makers or ends[makers[name]] == "succeeded"
    }


def check_steps(
    journey: Journey, flow: UUID, dag: Dag, storm: Storm, *, released: bool
) -> tuple[Dag, dict[str, str]]:
    found = steps(journey, flow)
    whole, want = wanted(dag, storm, found, released=released)
    ends = {name: end for name, (end, _) in found.items()}
    assert ends == want
    traces = ran(journey, flow)
    assert not {name for name in traces if name.startswith("wrong")}
    hit = {name for name, (_, job) in found.items() if job in storm.asked}
    own = {name for name, end in want.items() if end in ("succeeded", "failed")}
    maybe = {name for name, end in want.items() if end == "canceled" and handlers.fate(name) == "canceled"}
    assert own <= traces  # each side effect at least once
    assert traces - own - hit <= maybe  # and none of what must not run
    return whole, want


def check_traces(journey: Journey, flow: UUID) -> None:
    """Success is recorded once, an effect that is one commit with it happens once, and nobody begins before its parents' end."""
    twice = journey.one(
        "select count(*) - count(distinct o.job_id) from postmill.outcome o join postmill.workflow_step s using (job_id)"
        " where s.workflow_id = %s", flow,
    )  # fmt: skip
    assert twice == 0
    rows = journey.all(
        "select s.name, count(e.job_id) from postmill.workflow_step s left join effect e using (job_id)"
        " where s.workflow_id = %s and s.role = 'step' and s.state = 'succeeded' group by s.no, s.name", flow,
    )  # fmt: skip
    assert {name for name, n in rows if n != handlers.exact(name)} == set()
    early = journey.all(
        """with times as materialized (
               select s.no, min(p.at) as began, max(p.at) as last from probe p
                 join postmill.workflow_step s on s.job_id = p.job_id and s.role = 'step' where s.workflow_id = %s group by s.no)
           select c.no, p.no from postmill.workflow_edge e join times c on c.no = e.child join times p on p.no = e.parent
            where e.workflow_id = %s and c.began < p.last""", flow, flow,
    )  # fmt: skip
    assert early == []


def check_undone(journey: Journey, flow: UUID) -> int:
    """What had succeeded was taken back, the last first; how many."""
    due = journey.all(
        "select name from postmill.workflow_step where workflow_id = %s and role = 'step' and state = 'succeeded'"
        " and compensation is not null order by ended_as desc", flow,
    )  # fmt: skip
    did = journey.all(
        """select substr(p.event, 6) from probe p join postmill.workflow_step s on s.job_id = p.job_id
            where s.workflow_id = %s and s.role = 'compensation' group by p.event order by min(p.at)""", flow,
    )  # fmt: skip
    assert did == due
    return len(due)


def storm_over(
    journey: Journey,
    *,
    wide: int,
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
    flows = [
        start_workflow(journey.conn, made(dag, name, rng, undo, **options)).id
        for dag, name, undo, options in zip(
            dags, ("great", "canceled", "fast"), (0.02, 0.5, 0.5), ({}, {}, {"fail_fast": True}), strict=True
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
    check_steps(journey, great, dags[0], storm, released=False)
    rounds = 0
    while status_of(journey.conn, great) == "held":
        rounds += 1
        assert journey.one("select postmill.release_steps(%s)", great) > 0
        if kills > 2:
            storm.kill()
        eventually(lambda: storm.over([great]), patience, "the great one goes on")
    dag, want = check_steps(journey, great, dags[0], storm, released=True)
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
        journey, wide=180, small=30, workers=2, kills=2, cancels=6, pause=(0.1, 0.5), seed=1, patience=60
    )


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_storm_over_ten_thousand_steps(journey: Journey) -> None:
    figures = storm_over(
        journey,
        wide=10_000,
        small=400,
        workers=6,
        kills=100,
        cancels=200,
        pause=(0.2, 1.5),
        seed=2,
        patience=1800,
    )
    sys.stderr.write(f"{figures}\n")
