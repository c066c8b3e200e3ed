"""`/admin/api/jobs`: any job of the registry, by hand."""

from __future__ import annotations

from functools import cache
from uuid import UUID

from fastapi import APIRouter, HTTPException, Request, status

from examples.homepage.admin.shapes import Enqueued, NewJob, NewPriority, Prioritized
from examples.homepage.statements import row
from postmill import EnqueueRefused, Registry, aenqueue

jobs = APIRouter(prefix="/jobs")

_REFUSED = {
    "unknown": (status.HTTP_404_NOT_FOUND, "there is no such job"),
    "running": (status.HTTP_409_CONFLICT, "it runs already"),
    "finished": (status.HTTP_409_CONFLICT, "it has ended"),
    "contended": (status.HTTP_409_CONFLICT, "somebody has it in hand; try again"),
}


@cache
def handlers() -> Registry:
    """All job types that there are."""
    return Registry.collect("examples.homepage.jobs")


@jobs.post("/enqueue", status_code=status.HTTP_202_ACCEPTED)
async def enqueue(request: Request, asked: NewJob) -> Enqueued:
    """Enqueue a job now. An unknown type, or a payload that does not fit it, is refused with what would do."""
    try:
        handler = handlers()[asked.job_type]
        job = handler.using(actor_type="user", actor_id="admin").new(**asked.payload)
        async with request.app.state.pool.connection() as conn:
            made = await aenqueue(conn, job)
    except EnqueueRefused as fault:
        raise HTTPException(status.HTTP_422_UNPROCESSABLE_CONTENT, str(fault)) from None
    return Enqueued(job_id=made.id, job_type=handler.name, queue=handler.queue)


@jobs.patch("/{job}/priority")
async def prioritize(request: Request, job: UUID, asked: NewPriority) -> Prioritized:
    """Put a job that waits before others of its queue, or behind them; who did and why is in the audit log."""
    async with request.app.state.pool.connection() as conn:
        found = await row(conn, "prioritize_job", id=job, **asked.model_dump())
    assert found is not None
    if found["status"] in _REFUSED:
        code, why = _REFUSED[found["status"]]
        raise HTTPException(code, f"job {job}: {why}")
    return Prioritized(job_id=job, priority=asked.priority)
