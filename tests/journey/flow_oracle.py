"""What must have come of a workflow through which a storm went, told from its graph and the names of its steps."""

from __future__ import annotations

from uuid import UUID

from tests.journey import flow_handlers as handlers
from tests.journey.conftest import Journey
from tests.journey.storm import Storm
from tests.support.flows import Dag, Fate, expected, grown


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
    dag: Dag, storm: Storm, found: dict[str, tuple[str, UUID]], *, released: bool, fan: bool = True
) -> tuple[Dag, dict[str, str]]:
    """The oracle's answer, as far as it may know: of a step that was to be canceled while it ran it believes what came of it."""
    hands = {name for name, (_, job) in found.items() if job in storm.ended}
    canceled = hands | {
        name for name, (end, job) in found.items() if job in storm.asked and end == "canceled"
    }

    def own(name: str) -> Fate:
        return "canceled" if name in canceled else handlers.fate(name)

    whole = grown(dag, own, handlers.fans if fan else lambda _: [])
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


def first_difference(
    journey: Journey, flow: UUID, dag: Dag, ends: dict[str, str], want: dict[str, str]
) -> str:
    """The first step that ended otherwise, and what it waited for: all others may follow from it."""
    name = next((name for name in dag.parents if ends.get(name) != want.get(name)), "")
    rows = journey.all(
        "select s.*, o.status, o.reason, d.reason from postmill.workflow_step s left join postmill.outcome o using (job_id)"
        " left join postmill.dead_letter d on d.id = s.job_id where s.workflow_id = %s and s.name = any (%s)",
        flow, [name, *dag.parents.get(name, ())],
    )  # fmt: skip
    return f"{name}: {ends.get(name)} in place of {want.get(name)}, after {dag.parents.get(name)}\n{rows}"
