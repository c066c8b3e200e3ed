"""Workflows in tests: what must come of one, told without a database, and a hand that moves them on."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from psycopg import Connection

from postmill.domain.job import NewJob
from postmill.domain.workflow import ParentFailure, Workflow

Fate = Literal["succeeded", "failed", "canceled"]


@dataclass
class Dag:
    """Names in an order in which parents come first; per child its parents with their policies."""

    parents: dict[str, dict[str, ParentFailure]] = field(default_factory=dict)

    def workflow(self, name: str = "flow", job_type: str = "work", **options: Any) -> Workflow:
        made = Workflow(name, **options)
        for step, after in self.parents.items():
            made.add(step, NewJob.of(job_type, {"name": step}), after=after)
        return made


def random_dag(rng: random.Random, steps: int, *, most: int = 3) -> Dag:
    """A DAG in which a step waits for up to `most` of the 40 before it."""
    made = Dag()
    names = [f"s{n}" for n in range(steps)]
    for n, name in enumerate(names):
        near = names[max(0, n - 40) : n]
        after = rng.sample(near, min(len(near), rng.randint(0, most)))
        made.parents[name] = {one: rng.choices(("cancel", "continue", "hold"), (5, 4, 1))[0] for one in after}
    return made


def grown(dag: Dag, own: Callable[[str], Fate], fans: Callable[[str], list[str]]) -> Dag:
    """With the steps that those which succeed have made: they wait for the one that made them, and who waits for that one
    waits for them.

    Whether a step that makes others comes to run is not asked: its steps are where it may, and `expected` leaves them out.
    """
    made = Dag()
    for name, after in dag.parents.items():
        made.parents[name] = after | {
            one: policy
            for parent, policy in after.items()
            if own(parent) == "succeeded"
            for one in fans(parent)
        }
        if own(name) == "succeeded":
            made.parents |= {one: {name: "cancel"} for one in fans(name)}
    return made


def expected(dag: Dag, own: Mapping[str, Fate]) -> dict[str, str]:
    """How each step ends, if those in `own` end so once they run (or were canceled by hand); `held` where a hand is missing.

    A step that nobody but its parents decides about is not in `own`.
    """
    ends: dict[str, str] = {}
    for name, after in dag.parents.items():
        bad = {policy for parent, policy in after.items() if ends[parent] in ("failed", "canceled")}
        if "cancel" in bad:
            ends[name] = "canceled"
        elif any(ends[parent] in ("held", "blocked") for parent in after):
            ends[name] = "blocked"
        elif "hold" in bad:
            ends[name] = "held"
        else:
            ends[name] = own[name]
    return ends


def advance(conn: Connection[Any], *, tries: int = 50) -> int:
    """Moves everything on that can be; how many lines of inboxes were read."""
    lines = 0
    for _ in range(tries):
        stirred = conn.execute("select postmill.stirred_workflows(1000)").fetchall()
        if not stirred:
            return lines
        for (id,) in stirred:
            row = conn.execute("select postmill.advance_workflow(%s)", [id]).fetchone()
            assert row is not None
            lines += max(0, row[0])
    return lines


def steps_of(conn: Connection[Any], id: UUID) -> dict[str, str]:
    """The state of each named step."""
    found = conn.execute(
        "select name, state from postmill.workflow_step where workflow_id = %s and name is not null", [id]
    ).fetchall()
    return dict(found)


def status_of(conn: Connection[Any], id: UUID) -> Any:
    row = conn.execute("select status from postmill.workflow where id = %s", [id]).fetchone()
    return None if row is None else row[0]


def untolerated(dag: Dag, ends: Mapping[str, str]) -> bool:
    """Has the workflow failed: did a step not succeed for which somebody does not go on all the same?"""
    bad = {name for name, end in ends.items() if end != "succeeded"}
    lines: dict[str, set[str]] = {name: set() for name in bad}
    for after in dag.parents.values():
        for parent in bad & set(after):
            lines[parent].add(after[parent])
    return any(policies != {"continue"} for policies in lines.values())
