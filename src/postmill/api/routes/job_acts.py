"""What may be done to a job: cancel, retry."""

from __future__ import annotations

from typing import Annotated, Any, NoReturn
from uuid import UUID

from fastapi import Depends, Request, Response

from postmill.api.asked import Asked, may
from postmill.api.problems import Problem, not_found
from postmill.api.routing import location, new_router
from postmill.domain.access import Action
from postmill.domain.job import JobView
from postmill.operate import commands
from postmill.shapes.jobs import Cancel, CanceledJob, EnqueuedJob, ReplayedJob, Retry
from postmill.store.jobs import Rerun
from postmill.store.reads import read_job_state

router = new_router("jobs")

REFUSED = {
    "running": "it runs right now; cancel it, or wait for its end",
    "waiting": "it waits for other jobs",
    "succeeded": "it has succeeded; there is nothing to retry",
    "never": "its definition says that it is never replayed",
    "rolled_back": "its workflow was taken back; start it again",
    "unconfirmed": "its definition wants to be asked before a replay: send `confirm` with true",
    "live": "it runs again already",
    "already_replayed": "it was replayed already, and that job (`job_id`, if it is not forgotten by now) has ended;"
    " retry that one, or replay this dead letter with `again`",
    "succeeded_since": "a later job (`job_id`) with the same key, or the same type and payload, has succeeded;"
    " send `despite_success` with true to run it all the same",
    "old_version": "its definition is not at that version yet",
    "version_gone": "nobody can run the version of its definition that it was made under",
    "key_held": "its key belongs to another live job",
    "inactive": "its definition takes no new jobs",
    "unknown_type": "its definition is gone",
    "busy": "its key is held by a transaction that is still open; try again",
    "serialization": "it collided with another transaction; try again",
}


@router.post(
    "/jobs/{job_id:uuid}/cancel",
    responses={202: {"model": CanceledJob, "description": "It runs, and was asked to stop."}},
)
async def cancel_job(
    job_id: UUID,
    response: Response,
    asked: Annotated[Asked, Depends(may(Action.JOBS_CANCEL))],
    body: Cancel | None = None,
) -> CanceledJob:
    """Cancel a job. One that waits ends at once; one that runs is asked to stop."""
    reason = None if body is None else body.reason
    (answer,) = await asked.drive(commands.cancel([job_id], reason=reason, schema=asked.schema))
    if answer.status == "unknown":
        raise not_found("job")
    if answer.status == "finished":
        raise Problem(409, "job-finished", "it has ended; there is nothing to cancel")
    if answer.status == "requested":
        response.status_code = 202
        return CanceledJob(id=job_id, status="running", cancel_requested=True)
    return CanceledJob(id=job_id, status="canceled", cancel_requested=False)


@router.post(
    "/jobs/{job_id:uuid}/retry",
    response_model=EnqueuedJob | ReplayedJob,
    responses={
        200: {"model": EnqueuedJob, "description": "It waited for its next attempt, and is due now."},
        201: {"model": ReplayedJob, "description": "It had ended, and runs again as this new job."},
    },
)
async def retry_job(
    job_id: UUID,
    request: Request,
    response: Response,
    asked: Annotated[Asked, Depends(may(Action.JOBS_RETRY))],
    body: Retry | None = None,
) -> EnqueuedJob | ReplayedJob:
    """Retry a job: one that waits for its next attempt is due now, one that ended without success runs again.

    409 where the definition says `replay_class = ask`, unless `confirm` is true; and where it says `never`.
    """
    confirm = body is not None and body.confirm
    (answer,) = await asked.drive(commands.retry([job_id], confirm=confirm, schema=asked.schema))
    if answer.status == "replayed":
        return await replayed(asked, request, response, answer)
    if answer.status not in ("due", "waiting"):
        refuse(answer)
    job = await _job(asked, job_id)
    # A worker may have it by now: what was made due is answered as such, whatever it is since.
    if answer.status == "waiting" and job.status != "queued":
        refuse(answer)
    return EnqueuedJob(
        id=job.id,
        tenant_id=job.tenant_id,
        status=job.status.value,
        definition_key=job.job_type,
        queued_at=job.created_at,
    )


async def replayed(asked: Asked, request: Request, response: Response, answer: Rerun) -> ReplayedJob:
    """The answer 201 for a job that runs again."""
    assert answer.new_id is not None
    job = await _job(asked, answer.new_id)
    response.status_code = 201
    response.headers["Location"] = location(request, f"/jobs/{job.id}")
    return ReplayedJob(
        id=job.id,
        tenant_id=job.tenant_id,
        status=job.status.value,
        definition_key=job.job_type,
        queued_at=job.created_at,
        replayed_from=answer.id,
    )


def refuse(answer: Rerun) -> NoReturn:
    """Raises what a rerun that did nothing means."""
    if answer.status == "unknown":
        raise not_found("job")
    detail = REFUSED.get(answer.status, f"it cannot run again: {answer.status}")
    named: dict[str, Any] = {} if answer.new_id is None else {"job_id": str(answer.new_id)}
    raise Problem(409, f"job-{answer.status.replace('_', '-')}", detail, **named)


async def _job(asked: Asked, job_id: UUID) -> JobView:
    found = await asked.run(read_job_state([job_id], schema=asked.schema))
    if not found:
        raise not_found("job")
    return found[0]
