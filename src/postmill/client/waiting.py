"""Waiting for a job to end: polling at a growing pace, so that it needs no connection of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from postmill.client.flows import get
from postmill.domain.duration import seconds
from postmill.domain.errors import JobDidNotSucceed, NotFound, WaitTimeout
from postmill.domain.job import JobView, Progress
from postmill.domain.lifecycle import State
from postmill.store.flow import Flow, Pause

QUICKEST = 0.005
SLOWEST = 0.5
GROWTH = 1.4


def wait(
    schema: str,
    id: UUID | str,
    *,
    timeout: timedelta | float | None = None,
    on_progress: Callable[[Progress], object] | None = None,
) -> Flow[JobView]:
    """Waits until a job has succeeded, and returns it with its result.

    Args:
        id: the job.
        timeout: the longest wait in seconds; None is for ever.
        on_progress: called with each new report of progress that a look finds. Looks come every 5 ms at
        first,
            every 500 ms later.

    Raises:
        JobDidNotSucceed: it failed, was canceled or is a dead letter; the error holds the job.
        WaitTimeout: it has not ended in time; it goes on regardless.
        NotFound: there is no such job.
    """
    patience = None if timeout is None else seconds(timeout, "timeout")
    began = time.monotonic()
    pace = QUICKEST
    last: JobView | None = None
    while True:
        try:
            job = yield from get(schema, id)
        except NotFound:
            if last is None:
                raise
            # Its type keeps only failures: it has gone because it succeeded.
            return replace(last, status=State.SUCCEEDED, progress=None)
        if on_progress and job.progress and job.progress != (last and last.progress):
            on_progress(job.progress)
        if job.succeeded:
            return job
        if job.finished:
            raise JobDidNotSucceed(job)
        left = SLOWEST if patience is None else patience - (time.monotonic() - began)
        if left <= 0:
            raise WaitTimeout(f"job {id} ({job.job_type}) is still {job.status} after {patience:g} s")
        yield Pause(min(pace, left))
        pace = min(pace * GROWTH, SLOWEST)
        last = job
