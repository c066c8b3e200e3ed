"""`/admin/api/jobs`: any job of the registry, by hand."""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter, HTTPException, Request, status

from examples.homepage.admin.shapes import Enqueued, NewJob
from postmill import EnqueueRefused, Registry, aenqueue

jobs = APIRouter(prefix="/jobs")


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
