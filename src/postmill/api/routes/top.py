"""What goes on right now, for who sees the platform."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query

from postmill.api.asked import Asked, may
from postmill.api.routes.workers import shaped
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.domain.redaction import redacted_text
from postmill.operate.top import Sort, top
from postmill.shapes.top import Failure, LiveIncident, RunningJob, Top, TopQueue

router = new_router("workers")


@router.get("/top")
async def show_top(
    asked: Annotated[Asked, Depends(may(Action.WORKERS_READ))],
    sort: Annotated[Sort, Query(description="Order of the queues.")] = Sort.QUEUE,
    limit: Annotated[
        int, Query(ge=1, le=1000, description="Running jobs, failures and incidents that are told.")
    ] = 10,
) -> Top:
    """Show queues, workers, running jobs, recent failures and incidents at a glance."""
    found = await asked.drive(top(most=limit, sort=sort, schema=asked.schema))
    failures = [Failure.model_validate(one) for one in found.failures]
    return Top(
        at=found.at,
        queues=[TopQueue.model_validate(one) for one in found.queues],
        workers=[shaped(one) for one in found.workers],
        running=[RunningJob.model_validate(one) for one in found.running],
        failures=[one.model_copy(update={"message": redacted_text(one.message)}) for one in failures],
        incidents=[LiveIncident.model_validate(one) for one in found.incidents],
    )
