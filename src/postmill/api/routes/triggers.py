"""Triggers: list, make, show, change, remove, run; their next due moments and the past ones (seed 3, API contract)."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query, Request, Response

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, Offset, cursor_of, parts_of
from postmill.api.problems import Problem
from postmill.api.routing import location, new_router
from postmill.api.trigger_shapes import delivery, due_moments, saved
from postmill.api.trigger_shapes import listed as shown
from postmill.domain.access import Action
from postmill.operate import backfill, triggers
from postmill.shapes.events import EventDelivery
from postmill.shapes.moments import Moment
from postmill.shapes.paging import Page
from postmill.shapes.triggers import (
    Backfill,
    Backfilled,
    BackfillPlan,
    DueMoment,
    NewTrigger,
    RanTrigger,
    RunTrigger,
    SavedTrigger,
    Tick,
    TriedTrigger,
    Trigger,
    TriggerChanges,
    TriggerPreview,
    Type,
)
from postmill.store.events import list_deliveries
from postmill.store.triggers import list_ticks
from postmill.store.triggers import list_triggers as listed

router = new_router("triggers")

PATH = "/jobs/triggers"
ONE = PATH + "/{trigger_id:uuid}"

NO_TENANT: dict[int | str, dict[str, str]] = {404: {"description": "There is no such tenant in scope."}}

Read = Annotated[Asked, Depends(may(Action.TRIGGERS_READ))]
Write = Annotated[Asked, Depends(may(Action.TRIGGERS_WRITE))]
Count = Annotated[int, Query(ge=1, le=100, description="How many.")]
Name = Annotated[str | None, Query(max_length=200)]


@router.get(PATH)
async def list_triggers(
    asked: Read,
    trigger_type: Annotated[Type | None, Query(description="Of this type.")] = None,
    is_enabled: Annotated[bool | None, Query(description="Only such that are, or are not.")] = None,
    event_name: Annotated[Name, Query(description="That wait for exactly this.")] = None,
    definition_key: Annotated[Name, Query(description="That make jobs of this.")] = None,
    tenant_id: Annotated[UUID | None, Query(description="Of this tenant.")] = None,
    limit: Limit = 50,
    offset: Offset = 0,
    cursor: Cursor = None,
) -> Page[Trigger]:
    """List triggers, the newest first."""
    if cursor is not None and offset:
        raise Problem(422, "invalid-cursor", "cursor and offset exclude each other")
    found = await asked.run(
        listed(
            tenant=tenant_id,
            trigger_type=trigger_type,
            is_enabled=is_enabled,
            event_name=event_name,
            definition_key=definition_key,
            before=None if cursor is None else parts_of(cursor, UUID)[0],
            most=limit,
            offset=offset,
            schema=asked.schema,
        )
    )
    items = [shown(view) for view in found]
    return Page(items=items, next=cursor_of(items[-1].id) if len(items) == limit else None)


@router.post(PATH, status_code=201, responses=NO_TENANT)
async def create_trigger(
    asked: Write, body: NewTrigger, request: Request, response: Response
) -> SavedTrigger:
    """Make a trigger. What is wrong is refused with the field named; what may go wrong is among the warnings."""
    fields = body.model_dump(exclude_unset=True, exclude={"tenant_id"})
    made = await asked.drive(triggers.create(fields, tenant=body.tenant_id, schema=asked.schema))
    response.headers["Location"] = location(request, f"{PATH}/{made.trigger.id}")
    return saved(made)


@router.post(PATH + "/preview", responses=NO_TENANT)
async def preview_trigger(asked: Read, body: TriedTrigger, count: Count = 10) -> TriggerPreview:
    """Check a trigger without saving it, and show when it would run and with what payload.

    A payload needs the permission `payloads.read`.
    """
    fields = body.model_dump(exclude_unset=True, exclude={"tenant_id", "context"})
    found = await asked.drive(
        triggers.preview(fields, count, sample=body.context, tenant=body.tenant_id, schema=asked.schema)
    )
    hidden = found.payload is None or not asked.principal.may(Action.PAYLOADS_READ)
    return TriggerPreview(
        next_runs=due_moments(found.next_runs),
        dedupe_window_seconds=found.dedupe_window_seconds,
        warnings=found.warnings,
        payload=None if hidden else json.loads(found.payload or "{}"),
        problem=found.problem,
    )


@router.get(ONE)
async def get_trigger(asked: Read, trigger_id: UUID) -> Trigger:
    """Show one trigger."""
    return shown(await asked.drive(triggers.show(trigger_id, schema=asked.schema)))


@router.patch(ONE)
async def change_trigger(asked: Write, trigger_id: UUID, body: TriggerChanges) -> SavedTrigger:
    """Change fields of a trigger. 409 where code declares it, or somebody else changed it just now.

    A schedule that is changed or switched on is planned from now on: what a pause left out is not made up for.
    """
    changes = body.model_dump(exclude_unset=True)
    return saved(await asked.drive(triggers.change(trigger_id, changes, schema=asked.schema)))


@router.delete(ONE, status_code=204)
async def remove_trigger(asked: Write, trigger_id: UUID) -> None:
    """Take a trigger out of use; its jobs and its history stay. 409 where code declares it."""
    await asked.drive(triggers.remove(trigger_id, schema=asked.schema))


@router.post(
    ONE + "/run",
    status_code=201,
    responses={200: {"model": RanTrigger, "description": "The job that holds its idempotency key."}},
)
async def run_trigger(
    asked: Annotated[Asked, Depends(may(Action.TRIGGERS_RUN))],
    trigger_id: UUID,
    request: Request,
    response: Response,
    body: RunTrigger | None = None,
) -> RanTrigger:
    """Run a trigger by hand: a job at once, whatever its dedupe window says, also where it is disabled."""
    context = None if body is None else body.context
    flow = triggers.run(trigger_id, context, traceparent=asked.traceparent, schema=asked.schema)
    ran = await asked.drive(flow)
    assert ran.job_id is not None
    response.headers["Location"] = location(request, f"/jobs/{ran.job_id}")
    if ran.outcome == "duplicate":
        response.status_code = 200
    return RanTrigger.model_validate({"trigger_id": trigger_id, "job_id": ran.job_id, "outcome": ran.outcome})


@router.get(ONE + "/backfill")
async def plan_backfill(
    asked: Read,
    trigger_id: UUID,
    since: Annotated[Moment, Query(description="The window begins here.")],
    until: Annotated[Moment, Query(description="Before this moment, which is not in the future.")],
) -> BackfillPlan:
    """What a backfill of this window would do."""
    found = await asked.drive(backfill.plan(trigger_id, since, until, schema=asked.schema))
    return BackfillPlan(due=due_moments(found.due), kept=found.kept, problem=found.problem)


@router.post(ONE + "/backfill")
async def backfill_trigger(asked: Write, trigger_id: UUID, body: Backfill) -> Page[Backfilled]:
    """Make up for the due moments of a window that made no job, at most 500, all at once.

    A moment that has made a job is left as it is. Overlap policy, jitter and dedupe window are not asked.
    """
    done = await asked.drive(
        backfill.backfill(trigger_id, body.since, body.until, reason=body.reason, schema=asked.schema)
    )
    return Page(items=[Backfilled.model_validate(one) for one in done], next=None)


@router.get(ONE + "/next")
async def list_next_runs(asked: Read, trigger_id: UUID, count: Count = 10) -> Page[DueMoment]:
    """The next due moments of a schedule that is enabled, from the scheduler's own arithmetic."""
    runs = await asked.drive(triggers.next_runs(trigger_id, count, schema=asked.schema))
    return Page(items=due_moments(runs), next=None)


@router.get(ONE + "/ticks")
async def list_trigger_ticks(
    asked: Read, trigger_id: UUID, limit: Limit = 50, cursor: Cursor = None
) -> Page[Tick]:
    """The past due moments of a schedule and what came of each, the newest first."""
    before = None if cursor is None else parts_of(cursor, datetime.fromisoformat)[0]
    await asked.drive(triggers.show(trigger_id, schema=asked.schema))
    found = await asked.run(list_ticks(trigger_id, before=before, most=limit, schema=asked.schema))
    items = [Tick.model_validate(view) for view in found]
    return Page(items=items, next=cursor_of(items[-1].due) if len(items) == limit else None)


@router.get(ONE + "/deliveries")
async def list_trigger_deliveries(
    asked: Read, trigger_id: UUID, limit: Limit = 50, cursor: Cursor = None
) -> Page[EventDelivery]:
    """The events that a trigger met and what came of each, the newest first."""
    before = None if cursor is None else parts_of(cursor, UUID)[0]
    await asked.drive(triggers.show(trigger_id, schema=asked.schema))
    found = await asked.run(
        list_deliveries(trigger=trigger_id, before=before, most=limit, schema=asked.schema)
    )
    items = [delivery(view) for view in found]
    return Page(items=items, next=cursor_of(items[-1].event_id) if len(items) == limit else None)
