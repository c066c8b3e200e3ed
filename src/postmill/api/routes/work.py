"""Workers in other languages: claim, heartbeat, complete, fail."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import Depends, Request
from starlette.responses import Response

from postmill.api.asked import Asked, may
from postmill.api.long_poll import LongPoll, outcomes_of
from postmill.api.problems import Problem
from postmill.api.routes.work_artifacts import Token
from postmill.api.routing import new_router
from postmill.api.undelivered import Delivered, watched
from postmill.api.workflow_shapes import job_of
from postmill.bind import adrive
from postmill.domain.access import Action
from postmill.domain.errors import LeaseLost
from postmill.domain.fence import fence_token, read_fence
from postmill.engine.http_work.claiming import Given
from postmill.engine.http_work.fanning import FanOut
from postmill.engine.http_work.outcomes import Held
from postmill.engine.http_work.reported import ErrorReport
from postmill.engine.result import encode_result
from postmill.shapes import work as shapes
from postmill.shapes.work import (
    ClaimedJobs,
    ClaimJobs,
    CompletedJob,
    CompleteJob,
    FailedAttempt,
    FailJob,
    Heartbeat,
    JobWorkflow,
    RenewedLease,
)

router = new_router("worker")

Worker = Annotated[Asked, Depends(may(Action.WORK))]


@router.post("/worker/jobs/claim", response_model=ClaimedJobs)
async def claim_jobs(body: ClaimJobs, request: Request, asked: Worker) -> Response:
    """Claim jobs of kind `http`, and wait for them if there are none.

    Each comes with a fence, which its heartbeats and its report must bring along. A claim is no request that can be
    sent twice: `Idempotency-Key` is refused. If its answer gets lost, the jobs come back when their leases are over.
    """
    if asked.held is not None:
        raise Problem(422, "invalid-request", "a claim takes no Idempotency-Key: each one takes other jobs")
    async with watched(request) as client:
        poll = LongPoll(asked, body, client)
        given = await poll.jobs()
    return Delivered(orjson.dumps({"jobs": [_shown(one) for one in given]}), lambda: poll.give_back(given))


@router.post("/worker/jobs/{job_id:uuid}/heartbeat")
async def renew_lease(job_id: UUID, body: Heartbeat, asked: Worker) -> RenewedLease:
    """Tell that a job is being worked on: renews its lease, and answers whether to go on.

    Call it every third of the lease. 409: the fence holds no more; drop the work.
    """
    told = body.progress
    progress = None if told is None else (told.done, told.total, told.message)
    async with asked.transaction() as conn:
        flow = outcomes_of(asked, conn).heartbeat(_held(job_id, body.fence), progress)
        return RenewedLease.model_validate(await adrive(conn, flow))


@router.post("/worker/jobs/{job_id:uuid}/complete")
async def complete_job(job_id: UUID, body: CompleteJob, asked: Worker) -> CompletedJob:
    """Report a success. Sent again with the same fence, within an hour, it is answered as before.

    409: the fence holds no more, and nothing was changed. 422: what it fans out cannot be; the job is held as before.
    """
    raw = encode_result(body.result)
    async with asked.transaction() as conn:
        flow = outcomes_of(asked, conn).complete(
            _held(job_id, body.fence), None if raw is None else raw.decode(), _fan_out(body.fan_out)
        )
        return CompletedJob.model_validate(await adrive(conn, flow))


@router.post("/worker/jobs/{job_id:uuid}/fail")
async def fail_job(job_id: UUID, body: FailJob, asked: Worker) -> FailedAttempt:
    """Report a failed attempt. The definition's retry policy decides what comes next; a job that was asked to stop is
    canceled. Sent again with the same fence, within an hour, it is answered as before.

    409: the fence holds no more, and nothing was changed.
    """
    error = ErrorReport(**body.error.model_dump())
    async with asked.transaction() as conn:
        flow = outcomes_of(asked, conn).fail(_held(job_id, body.fence), error)
        return FailedAttempt.model_validate(await adrive(conn, flow))


@router.get(
    "/worker/jobs/{job_id:uuid}/workflow", responses={409: {"description": "The fence holds no more."}}
)
async def read_job_workflow(job_id: UUID, asked: Worker, fence: Token) -> JobWorkflow:
    """Read the workflow of a job that one holds: its parents, how they ended and what they gave.

    404: it is in no workflow. 409: the fence holds no more.
    """
    async with asked.transaction() as conn:
        flow = outcomes_of(asked, conn).workflow(_held(job_id, fence))
        return JobWorkflow.model_validate(await adrive(conn, flow))


def _fan_out(asked: shapes.FanOut | None) -> FanOut | None:
    if asked is None:
        return None
    jobs = [(job.name, job_of(job)) for job in asked.jobs]
    last = asked.collect
    collect = None if last is None else job_of(last)
    return FanOut(jobs, collect, None if last is None else last.name, asked.parent_failure)


def _held(job_id: UUID, fence: str) -> Held:
    read = read_fence(fence)
    if read is None:
        raise LeaseLost("this fence is none that was ever given")
    return Held(job_id, *read)


def _shown(given: Given) -> dict[str, Any]:
    facts = given.facts
    timeout, step = facts["timeout_seconds"], facts.get("workflow")
    claimed = datetime.fromisoformat(facts["claimed_at"])
    told = (
        "job_type", "queue", "attempt", "max_attempts", "run", "lease_expires_at", "tenant_id", "project_id", "created_at",
        "scheduled_for", "actor_type", "actor_id", "request_id", "correlation_id", "traceparent", "idempotency_key",
    )  # fmt: skip
    return {
        "job_id": facts["id"],
        "fence": fence_token(given.held.holder, given.held.claim_no),
        "payload": orjson.Fragment(given.payload),
        "deadline": None if timeout is None else claimed + timedelta(seconds=timeout),
        "workflow": None if step is None else {name: step[name] for name in shapes.StepOfJob.model_fields},
        **{name: facts[name] for name in told},
    }
