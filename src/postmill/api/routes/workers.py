"""Workers, as the platform sees them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path, Query

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.operate import workers
from postmill.shapes.paging import Page
from postmill.shapes.workers import AskWorker, HeldJob, RescuedWorker, Worker
from postmill.store.workers import Asked as Wanted
from postmill.store.workers import WorkerView, read_workers

router = new_router("workers")

Read = Annotated[Asked, Depends(may(Action.WORKERS_READ))]
Write = Annotated[Asked, Depends(may(Action.WORKERS_WRITE))]
Id = Annotated[UUID, Path(description="The id of the session.")]


@router.get("/workers")
async def list_workers(
    asked: Read,
    seen_within_seconds: Annotated[
        float, Query(gt=0, le=10 * 366 * 86400, description="Seen within so many seconds; a day by default.")
    ] = 86400.0,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Worker]:
    """List worker sessions, those that started last first."""
    before = None if cursor is None else parts_of(cursor, datetime.fromisoformat, UUID)
    found = await asked.run(
        read_workers(
            seen_within=seen_within_seconds,
            before=None if before is None else (before[0], before[1]),
            most=limit + 1,
            schema=asked.schema,
        )
    )
    items = found[:limit]
    more = cursor_of(items[-1].started_at, items[-1].holder) if len(found) > limit else None
    return Page(items=[shaped(view) for view in items], next=more)


@router.get("/workers/{worker_id}")
async def get_worker(worker_id: Id, asked: Read) -> Worker:
    """Show one worker session."""
    return shaped(await asked.drive(workers.worker(worker_id, schema=asked.schema)))


@router.get("/workers/{worker_id}/jobs")
async def list_worker_jobs(worker_id: Id, asked: Read, limit: Limit = 50) -> Page[HeldJob]:
    """List what a worker holds, the oldest first: what is lost if it ends now, with what its definition says of running
    it again."""
    held = await asked.drive(workers.held(worker_id, most=limit, schema=asked.schema))
    return Page(items=[HeldJob.model_validate(one) for one in held], next=None)


@router.post("/workers/{worker_id}/drain")
async def drain_worker(worker_id: Id, asked: Write, body: AskWorker | None = None) -> Worker:
    """Ask a worker to claim nothing more. What runs is finished; it can be resumed."""
    return await _ask(asked, worker_id, "drain", body)


@router.post("/workers/{worker_id}/resume")
async def resume_worker(worker_id: Id, asked: Write, body: AskWorker | None = None) -> Worker:
    """Ask a worker to claim again."""
    return await _ask(asked, worker_id, "resume", body)


@router.post("/workers/{worker_id}/stop")
async def stop_worker(worker_id: Id, asked: Write, body: AskWorker | None = None) -> Worker:
    """Ask a worker to end as soon as nothing runs. Whatever supervises its process may start another one."""
    return await _ask(asked, worker_id, "stop", body)


@router.post("/workers/{worker_id}/rescue")
async def rescue_worker(worker_id: Id, asked: Write, body: AskWorker | None = None) -> RescuedWorker:
    """Take back what a lost worker held, at once; 409 while its lease holds."""
    reason = None if body is None else body.reason
    return RescuedWorker.model_validate(
        await asked.drive(workers.rescue(worker_id, reason=reason, schema=asked.schema)),
    )


async def _ask(asked: Asked, worker_id: UUID, wanted: Wanted, body: AskWorker | None) -> Worker:
    reason = None if body is None else body.reason
    return shaped(await asked.drive(workers.ask(worker_id, wanted, reason=reason, schema=asked.schema)))


def shaped(view: WorkerView) -> Worker:
    """A session as the API tells it."""
    return Worker(
        id=view.holder,
        worker_id=view.worker_id,
        hostname=view.hostname,
        pid=view.pid,
        version=view.version,
        build=view.build,
        state=view.state,  # type: ignore[arg-type]  # one of four, says the statement
        queues=list(view.queues),
        slots=view.slots,
        job_types=list(view.job_types),
        running_count=view.running,
        started_at=view.started_at,
        last_seen_at=view.last_seen_at,
        stopped_at=view.stopped_at,
        lease_expires_at=view.lease_expires_at,
        metadata=view.metadata,
        asked=view.asked,  # type: ignore[arg-type]  # one of three, says the table
        asked_at=view.asked_at,
        asked_by=view.asked_by,
        asked_reason=view.asked_reason,
        draining_since=view.draining_since,
        full_since=view.full_since,
        skew_seconds=view.skew_seconds,
        report=view.report or {},
    )
