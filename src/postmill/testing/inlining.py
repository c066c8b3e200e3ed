"""Inline mode: what is enqueued runs at once, in the process of the test, and nothing is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

from postmill import bind
from postmill.client import flows
from postmill.domain.job import NewJob
from postmill.domain.signals import Signal
from postmill.store.enqueue import Answer
from postmill.store.flow import Flow, Step
from postmill.testing.performing import ResourcesGiven, aperform, perform


@dataclass(frozen=True, slots=True)
class Ran:
    """A job that ran. `signal`: what it decided by `Snooze`, `Retry`, `Cancel`, `Bury` or `Fail`; it has no result then."""

    job: NewJob
    result: Any = None
    signal: Signal | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """A step of a flow that runs jobs in place of a statement."""

    jobs: Sequence[NewJob]


@contextmanager
def inline(*, resources: ResourcesGiven | None = None) -> Iterator[list[Ran]]:
    """Meanwhile `enqueue` and its siblings run each job at once, before they return, whatever its delay.

    It holds for all threads of the process, clients and functions alike. Arguments go through JSON; an exception of a
    handler comes out of the enqueue. Keys, limits, retries and the caller's transaction play no part: for those enqueue
    really, and `drain`.

    Args:
        resources: what `ctx.resource(…)` gives.

    Gives the list of what has run so far.
    """
    ran: list[Ran] = []
    real_send, real_step, real_astep = flows.send, bind.step, bind.astep

    def send(schema: str, jobs: Sequence[NewJob], wait: timedelta | None, copy: bool) -> Flow[list[Answer]]:
        answers: list[Answer] = yield _Run(jobs)  # type: ignore[misc]
        return answers

    def step(conn: object, step: Step | _Run) -> Any:
        return [_ran(job) for job in step.jobs] if isinstance(step, _Run) else real_step(conn, step)

    async def astep(conn: object, step: Step | _Run) -> Any:
        if isinstance(step, _Run):
            return [await _aran(job) for job in step.jobs]
        return await real_astep(conn, step)

    def _ran(job: NewJob) -> Answer:
        try:
            ran.append(Ran(job, perform(job, resources=resources)))
        except Signal as signal:
            ran.append(Ran(job, signal=signal))
        return Answer(uuid4(), "created", None)

    async def _aran(job: NewJob) -> Answer:
        try:
            ran.append(Ran(job, await aperform(job, resources=resources)))
        except Signal as signal:
            ran.append(Ran(job, signal=signal))
        return Answer(uuid4(), "created", None)

    flows.send, bind.step, bind.astep = send, step, astep
    try:
        yield ran
    finally:
        flows.send, bind.step, bind.astep = real_send, real_step, real_astep
