"""Workflows that cannot be, as JSON, each with what is said of it."""

from __future__ import annotations

from typing import Any

JOB = """insert into postmill.queue (name) values ('default') on conflict do nothing;
insert into postmill.job_definition (key, queue, max_attempts) values ('work', 'default', 3)"""
COUNT = """select (select count(*) from postmill.workflow) + (select count(*) from postmill.workflow_step)
    + (select count(*) from postmill.workflow_edge) + (select count(*) from postmill.any_job)"""


def step(**more: Any) -> dict[str, Any]:
    return {"name": "a", "job_type": "work", **more}


def job(**more: Any) -> dict[str, Any]:
    return {"job_type": "work", **more}


WIDE = [{"name": f"s{n}", "job_type": "work"} for n in range(10_001)]
CROWD = [
    *WIDE[:400],
    *({"name": f"t{n}", "job_type": "work", "after": [f"s{m}" for m in range(400)]} for n in range(251)),
]
SQL: list[tuple[Any, str]] = [
    ([], "must be a JSON object"),
    ({"steps": [step()]}, "name: must have 1 to 200 bytes"),
    ({"name": 5, "steps": [step()]}, "name: must be a text"),
    ({"name": "f", "key": {}, "steps": [step()]}, "key: must be a text"),
    ({"name": "f", "fail_fast": "no", "steps": [step()]}, "fail_fast: must be true or false"),
    ({"name": "f", "stepz": [step()]}, 'knows no "stepz"'),
    ({"name": "f", "steps": {}}, "steps: must be a JSON array"),
    ({"name": "f", "steps": WIDE}, "10001 are too many"),
    ({"name": "f", "steps": CROWD}, "100400 lines between them"),
    ({"name": "f", "kind": "batch", "steps": [step()]}, 'knows no "name"'),
    *(
        ({"name": "f", "steps": [given]}, why)
        for given, why in (
            (step(pirority=5), 'knows no "pirority"'),
            (step(name="é" * 201), "1 to 200 characters"),
            (step(payload=[]), "payload: must be a JSON object"),
            (step(after="b"), "after: must be a list"),
            (step(after=[{"step": "b", "fail": "hold"}]), "name of a step, or an object of step and failure"),
            (step(after=["a"]), "comes later"),
            (step(priority=1.5), "priority: must be a whole number"),
            (step(delay="soon"), "delay: must be a number of seconds"),
            (step(scheduled_for="soon"), "scheduled_for: must be a moment"),
            (step(scheduled_for="infinity"), "before the end of the year 9999"),
            (step(tags=[5]), "5 is no tag"),
            (step(compensate=job(priority="x")), 'step "a": compensate: priority'),
            (step(compensate=job(scheduled_for="infinity")), "compensate: scheduled_for"),
        )
    ),
    ({"name": "f", "steps": [step(), {**step(name="b"), "after": ["a", {"step": "a", "failure": "hold"}]}]}, "twice"),
    ({"name": "f", "steps": [step()], "on_finish": job(priority="x")}, "on_finish: priority"),
    ({"name": "f", "steps": [step()], "on_success": job(delay=1e300)}, "on_success: delay"),
]  # fmt: skip
