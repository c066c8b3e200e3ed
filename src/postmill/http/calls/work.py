"""The calls of a worker over HTTP.

A report may be sent again with the same fence, and is answered as before, so it needs no Idempotency-Key to be done once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from postmill.http.call import Call, Decode, Id, T_co, at, json_headers, json_of, model
from postmill.shapes.work import (
    ClaimedJobs,
    CompletedJob,
    FailedAttempt,
    FanOut,
    JobError,
    JobWorkflow,
    RenewedLease,
    WorkProgress,
)


def claim_jobs(
    worker_id: str,
    *,
    queues: Sequence[str] = (),
    job_types: Sequence[str] = (),
    max_jobs: int | None = None,
    lease_seconds: float | None = None,
    wait_seconds: float | None = None,
) -> Call[ClaimedJobs]:
    """Claims jobs of kind `http`, and waits for them if there are none. Never sent twice: each claim takes other jobs.

    Args:
        worker_id: the worker's own name, of its process best.
        queues: where to claim from; empty: the queues of the job types.
        job_types: keys of definitions; empty: all of them in the queues.
        max_jobs: how many at most; 1 by default.
        lease_seconds: a job whose worker is silent for so long is given to another; 60 by default.
        wait_seconds: how long to wait for the first job, at most 30; 0 by default.
    """
    body = {
        "worker_id": worker_id,
        "queues": list(queues),
        "job_types": list(job_types),
        "max_jobs": max_jobs,
        "lease_seconds": lease_seconds,
        "wait_seconds": wait_seconds,
    }
    return Call(
        "POST",
        at("worker", "jobs", "claim"),
        model(ClaimedJobs),
        headers=json_headers(body),
        content=json_of(body),
        repeatable=False,
        patience=wait_seconds or 0.0,
    )


def renew_lease(job_id: Id, fence: str, *, progress: WorkProgress | None = None) -> Call[RenewedLease]:
    """Tells that a job is being worked on: renews its lease, and answers whether to go on.

    Call it every third of the lease. Conflict: the fence holds no more; drop the work.
    """
    told = None if progress is None else progress.model_dump(exclude_unset=True)
    return _report(job_id, "heartbeat", model(RenewedLease), {"fence": fence, "progress": told})


def complete_job(
    job_id: Id, fence: str, result: object = None, *, fan_out: FanOut | None = None
) -> Call[CompletedJob]:
    """Reports a success, with any JSON as the result, and steps for the job's workflow.

    Conflict: the fence holds no more, and nothing was changed. Refused: the steps cannot be, and nothing was changed.
    """
    made = None if fan_out is None else fan_out.model_dump(mode="json", exclude_unset=True)
    told = {"fence": fence, "result": result, "fan_out": made}
    return _report(job_id, "complete", model(CompletedJob), told)


def read_job_workflow(job_id: Id, fence: str) -> Call[JobWorkflow]:
    """The workflow of a job that one holds: its parents, how they ended and what they gave.

    NotFound: the job is in no workflow. Conflict: the fence holds no more.
    """
    path = at("worker", "jobs", job_id, "workflow")
    return Call("GET", path, model(JobWorkflow), headers={"Postmill-Fence": fence})


def fail_job(job_id: Id, fence: str, error: JobError) -> Call[FailedAttempt]:
    """Reports a failed attempt; the definition's retry policy decides what comes next. Conflict as for `complete`."""
    told = error.model_dump(exclude_unset=True)
    return _report(job_id, "fail", model(FailedAttempt), {"fence": fence, "error": told})


def _report(job_id: Id, verb: str, decode: Decode[T_co], body: Mapping[str, object]) -> Call[T_co]:
    path = at("worker", "jobs", job_id, verb)
    return Call("POST", path, decode, headers=json_headers(body), content=json_of(body))
