"""A workflow after the storm, beside the oracle, and the traces that its steps have left."""

from __future__ import annotations

from uuid import UUID

from tests.journey import flow_handlers as handlers
from tests.journey.conftest import Journey
from tests.journey.flow_oracle import first_difference, ran, steps, wanted
from tests.journey.storm import Storm
from tests.support.flows import Dag


def check_steps(
    journey: Journey, flow: UUID, dag: Dag, storm: Storm, *, released: bool, fan: bool
) -> tuple[Dag, dict[str, str]]:
    found = steps(journey, flow)
    whole, want = wanted(dag, storm, found, released=released, fan=fan)
    ends = {name: end for name, (end, _) in found.items()}
    assert ends == want, first_difference(journey, flow, whole, ends, want)
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
