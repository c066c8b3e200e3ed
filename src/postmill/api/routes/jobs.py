"""Jobs: enqueue, list, show."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query, Request, Response

from postmill.api.asked import Asked, may
from postmill.api.entering import enter
from postmill.api.job_shapes import attempt, listed, whole
from postmill.api.paging import Cursor, Limit, Offset, cursor_of, parts_of
from postmill.api.problems import Problem, not_found
from postmill.api.routing import location, new_router
from postmill.domain.access import Action
from postmill.domain.idempotency import Mode
from postmill.domain.job import JobView, NewJob
from postmill.domain.lane import DEFAULT_TENANT
from postmill.operate.payloads import shown
from postmill.shapes.jobs import Attempt, EnqueuedJob, EnqueueJob, Job, Source, Status, WholeJob
from postmill.shapes.moments import Moment
from postmill.shapes.paging import Page
from postmill.store.boost import read_boost
from postmill.store.jobs import NEWEST
from postmill.store.reads import read_attempts, read_job_state, read_jobs

router = new_router("jobs")

Read = Annotated[Asked, Depends(may(Action.JOBS_READ))]
DefinitionKey = Annotated[str | None, Query(min_length=1, max_length=200, description="Of this definition.")]
Queue = Annotated[str | None, Query(min_length=1, max_length=200, description="Of this queue.")]
Tenant = Annotated[UUID | None, Query(description="Of this tenant.")]


@router.post(
    "/jobs",
    status_code=201,
    responses={
        200: {"model": EnqueuedJob, "description": "The live job that has this `dedupe_key`."},
        404: {"description": "There is no such tenant or project in scope."},
    },
)
async def enqueue_job(
    body: EnqueueJob,
    request: Request,
    response: Response,
    asked: Annotated[Asked, Depends(may(Action.JOBS_ENQUEUE))],
) -> EnqueuedJob:
    """Enqueue a job."""
    job = NewJob.of(
        body.definition_key,
        body.payload,
        tenant_id=body.tenant_id or asked.principal.tenant_id or DEFAULT_TENANT,
        project_id=body.project_id,
        priority=body.priority,
        scheduled_for=body.scheduled_for,
        key=body.dedupe_key,
        mode=None if body.dedupe_key is None else Mode.ACTIVE,
        actor_type=asked.principal.actor_type,
        actor_id=asked.principal.actor_id,
        request_id=asked.request_id,
        correlation_id=body.correlation_id or asked.correlation_id or asked.request_id,
        traceparent=asked.traceparent,
        tags=body.tags,
    )
    definition_key, entered = await enter(asked, job)
    if entered.status == "duplicate":
        response.status_code = 200
    response.headers["Location"] = location(request, f"/jobs/{entered.id}")
    # The database made these values: they need no second look.
    return EnqueuedJob.model_construct(
        id=entered.id,
        tenant_id=entered.tenant_id,
        status=entered.state,
        definition_key=definition_key,
        queued_at=entered.created_at,
    )


@router.get("/jobs")
async def list_jobs(
    asked: Read,
    status: Annotated[
        Status | None, Query(description="In this state. `queued` is due, `scheduled` is not yet.")
    ] = None,
    source: Annotated[Source | None, Query(description="Made by this.")] = None,
    definition_key: DefinitionKey = None,
    queue: Queue = None,
    tenant_id: Tenant = None,
    created_after: Annotated[Moment | None, Query(description="Enqueued after this moment.")] = None,
    created_before: Annotated[Moment | None, Query(description="Enqueued before this moment.")] = None,
    limit: Limit = 50,
    offset: Offset = 0,
    cursor: Cursor = None,
) -> Page[Job]:
    """List jobs, the newest first.

    A page looks at some thousand jobs at most: with a filter that few jobs meet it may be short, and still have a
    `next`.
    """
    if cursor is not None and offset:
        raise Problem(422, "invalid-cursor", "cursor and offset exclude each other")
    found = await asked.run(
        read_jobs(
            status=status,
            source=source,
            job_type=definition_key,
            queue=queue,
            tenant=tenant_id,
            before=NEWEST if cursor is None else parts_of(cursor, UUID)[0],
            created_after=created_after,
            created_before=created_before,
            skip=offset,
            most=limit,
            schema=asked.schema,
        )
    )
    items = [listed(row) for row in found.jobs]
    return Page.model_construct(items=items, next=None if found.before is None else cursor_of(found.before))


@router.get("/jobs/{job_id:uuid}")
async def get_job(job_id: UUID, asked: Read) -> WholeJob:
    """Show one job. Payload and result need the permission `payloads.read`."""
    found = await asked.run(read_job_state([job_id], schema=asked.schema))
    if not found:
        raise not_found("job")
    job: JobView = found[0]
    payloads = asked.principal.may(Action.PAYLOADS_READ)
    if payloads:
        job = await asked.drive(shown(job, asked.backend.settings.encryption.ring, schema=asked.schema))
    raised = await asked.run(read_boost(job_id, schema=asked.schema))
    return whole(job, raised, payloads=payloads)


@router.get("/jobs/{job_id:uuid}/attempts")
async def list_attempts(job_id: UUID, asked: Read) -> Page[Attempt]:
    """List every execution of a job, the first one first, the running one last."""
    found = await asked.run(read_attempts(job_id, schema=asked.schema))
    if not found and not await asked.run(read_job_state([job_id], schema=asked.schema)):
        raise not_found("job")
    return Page(items=[attempt(view) for view in found], next=None)
