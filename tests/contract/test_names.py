"""What the command line and the API call differently is in the reference's table, and nothing else is."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from pydantic import BaseModel

from postmill.operate.doctor.finding import Finding
from postmill.operate.top import Top
from postmill.operate.why import Reason, Why
from postmill.shapes import (
    budgets,
    dead_letters,
    dead_statistics,
    doctor,
    errors,
    incidents,
    job_insight,
    jobs,
    operations,
    queues,
    top,
    workers,
)
from postmill.store.budgets import BudgetView, LineView, PeriodView
from postmill.store.dead import DeadLetter
from postmill.store.dead_statistics import DeadPreview, DeadStatistics, GroupCount, MetCause, Sample
from postmill.store.error_groups import AffectedTenant, ErrorGroupView
from postmill.store.incidents import IncidentView
from postmill.store.job_rows import AttemptView, JobLine, JobView
from postmill.store.operations import Operation
from postmill.store.queues import QueueView
from postmill.store.workers import WorkerView
from tests.support.spawner import ROOT

PAIRS: list[tuple[type[Any], type[BaseModel]]] = [
    (JobLine, jobs.Job),
    (JobView, jobs.WholeJob),
    (AttemptView, jobs.Attempt),
    (DeadLetter, dead_letters.WholeDeadLetter),
    (DeadStatistics, dead_statistics.DeadStatistics),
    (GroupCount, dead_statistics.ErrorGroupCount),
    (MetCause, dead_statistics.MetCause),
    (Sample, dead_statistics.SampleLetter),
    (DeadPreview, dead_statistics.DeadPreview),
    (ErrorGroupView, errors.ErrorGroup),
    (AffectedTenant, errors.AffectedTenant),
    (IncidentView, incidents.Incident),
    (Operation, operations.Operation),
    (BudgetView, budgets.Budget),
    (PeriodView, budgets.BudgetPeriod),
    (LineView, budgets.BudgetLine),
    (QueueView, queues.Queue),
    (WorkerView, workers.Worker),
    (Top, top.Top),
    (Finding, doctor.Finding),
    (Why, job_insight.Why),
    (Reason, job_insight.Reason),
]
"""What both faces show of one thing."""

ONLY_THERE = {
    "run": "how often a job has run, beside its attempts; the API counts attempts",
    "attempt_no": "the contract's other name, beside `attempt`",
    "project_id": "left out of the command line's list",
    "source": "left out of the command line's list",
    "source_ref": "left out of the command line's list",
    "actor_type": "left out of the command line's list",
    "created_by": "left out of the command line's list",
    "correlation_id": "left out of the command line's list",
    "claimed_by_worker": "left out of the command line's list",
    "replayed_from": "left out of the command line's list",
    "raised": "beside the job in `postmill jobs show --json`",
}
"""Names that one of them lacks altogether, and why."""


def renamed() -> set[tuple[str, str]]:
    text = (
        (ROOT / "docs/reference/cli.md").read_text().partition("<!-- names -->")[2].partition("\n\nA list")[0]
    )
    return set(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", text, re.MULTILINE))


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda one: one.__name__)
def test_the_same_thing_has_the_same_names(ours: type[Any], theirs: type[BaseModel]) -> None:
    mine, api = {field.name for field in dataclasses.fields(ours)}, set(theirs.model_fields)
    for old, new in renamed():
        if old in mine - api and new in api - mine:
            mine.remove(old)
            api.remove(new)
    assert (mine ^ api) - ONLY_THERE.keys() == set()


def test_every_line_of_the_table_is_used() -> None:
    used = {
        (old, new)
        for old, new in renamed()
        for ours, theirs in PAIRS
        if old in {field.name for field in dataclasses.fields(ours)} and new in theirs.model_fields
    }
    assert used == renamed() != set()
