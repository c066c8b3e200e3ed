"""Workers, as the platform sees them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.shapes.paging import Page
from postmill.shapes.workers import Worker
from postmill.store.workers import WorkerView, read_workers

router = new_router("workers")


@router.get("/workers")
async def list_workers(
    asked: Annotated[Asked, Depends(may(Action.WORKERS_READ))],
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


def shaped(view: WorkerView) -> Worker:
    """A session as the API tells it."""
    return Worker(
        id=view.holder,
        worker_id=view.worker_id,
        hostname=view.hostname,
        pid=view.pid,
        version=view.version,
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
    )
