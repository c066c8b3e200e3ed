"""Workflows and batches as the JSON that the database takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from postmill.domain.job import NewJob
from postmill.domain.workflow import Step, Workflow


def job_spec(job: NewJob) -> dict[str, Any]:
    """One job: its type, payload and the options that a job of a workflow can have."""
    spec: dict[str, Any] = {"job_type": job.job_type, "payload": orjson.Fragment(job.payload)}
    if job.priority is not None:
        spec["priority"] = job.priority
    if job.delay is not None:
        spec["delay"] = job.delay.total_seconds()
    if job.scheduled_for is not None:
        spec["scheduled_for"] = job.scheduled_for.isoformat()
    if job.max_attempts is not None:
        spec["max_attempts"] = job.max_attempts
    if job.timeout is not None:
        spec["timeout"] = job.timeout
    if job.tags:
        spec["tags"] = list(job.tags)
    return spec


def step_spec(step: Step) -> dict[str, Any]:
    """A step, with what it waits for."""
    spec = {"name": step.name, **job_spec(step.job)}
    if step.after:
        spec["after"] = [{"step": name, "failure": failure} for name, failure in step.after.items()]
    if step.compensate is not None:
        spec["compensate"] = job_spec(step.compensate)
    return spec


def steps_text(steps: Iterable[Step]) -> str:
    return orjson.dumps([step_spec(step) for step in steps]).decode()


def jobs_text(jobs: Sequence[NewJob]) -> str:
    """Jobs of a batch."""
    return orjson.dumps([job_spec(job) for job in jobs]).decode()


def workflow_text(
    flow: Workflow, kind: str, steps: list[dict[str, Any]], *, sealed: bool, callbacks: dict[str, NewJob]
) -> str:
    spec: dict[str, Any] = {"kind": kind, "name": flow.name, "sealed": sealed, "fail_fast": flow.fail_fast}
    if flow.key is not None:
        spec["key"] = flow.key
    for name, job in callbacks.items():
        spec[name] = job_spec(job)
    spec["steps"] = steps
    return orjson.dumps(spec).decode()
