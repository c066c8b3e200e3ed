"""Bulk acts as operations: preview, begin, watch, pause, resume, approve, abort."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query, Request, Response

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.problems import Problem, not_found
from postmill.api.routes.dead_statistics import masked, named
from postmill.api.routing import location, new_router
from postmill.domain.access import Action
from postmill.domain.errors import NotFound
from postmill.domain.letters import LetterFilter
from postmill.domain.pace import Kind, Pace
from postmill.operate import bulk
from postmill.operate import operations as acts
from postmill.shapes.dead_statistics import DeadPreview
from postmill.shapes.operations import (
    AskImpact,
    ChangeOperation,
    Impact,
    LetterSelection,
    NewOperation,
    Operation,
    OperationLetter,
    PreviewOperation,
    WholeOperation,
)
from postmill.shapes.paging import Page

router = new_router("operations")

Read = Annotated[Asked, Depends(may(Action.DEAD_READ))]
Act = Annotated[Asked, Depends(may(Action.DEAD_REPLAY))]


@router.post("/operations/preview")
async def preview_operation(asked: Read, body: PreviewOperation) -> DeadPreview:
    """Tell what a bulk act on these dead letters would meet; nothing is done."""
    found = asdict(await asked.drive(acts.preview(_chosen(body.filter), schema=asked.schema)))
    found["by_cause"] = [named(one) for one in found["by_cause"]]
    found["sample"] = [
        named(one) | {"last_error": masked(one.pop("error_message"))} for one in found["sample"]
    ]
    return DeadPreview.model_validate(found)


@router.post("/operations/impact")
async def ask_impact(asked: Read, body: AskImpact) -> Impact:
    """Tell what a bulk act on the jobs of a query would meet; nothing is done."""
    await _may(asked, body.kind, "POST /api/v1/operations/impact")
    meant = await _meant(asked, body.query, body.ids)
    found = await asked.drive(bulk.impact(body.kind, meant, cut_off=body.cut_off, schema=asked.schema))
    return Impact.model_validate(asdict(found))


@router.post("/operations", status_code=201)
async def start_operation(body: NewOperation, asked: Act, request: Request, response: Response) -> Operation:
    """Begin a bulk act on the dead letters of a filter, or the jobs of a query, that match now: each once.

    Workers carry it out. Each kind needs its own permission: replay `dead.replay`, retry `jobs.retry`, cancel `jobs.cancel`,
    discard `dead.discard`, priority and run_at `jobs.priority`, move `queues.write`, tag `jobs.tag`. With more jobs than the
    setting `console.second_person_above` it is `proposed` until somebody else approves it. 404: no job matches.
    """
    await _may(asked, body.kind, "POST /api/v1/operations")
    if sum(one is not None for one in (body.filter, body.query, body.ids)) != 1:
        raise Problem(422, "invalid-request", "give one of filter, query and ids")
    given = body.model_dump(include={field.name for field in fields(Pace)})
    given["tags"] = None if body.tags is None else tuple(body.tags)
    pace = Pace(**given, approve_above=asked.backend.settings.console.second_person_above)
    if body.filter is not None:
        begun = await asked.drive(
            acts.start(body.kind, _chosen(body.filter), pace, reason=body.reason, schema=asked.schema)
        )
    else:
        meant = await _meant(asked, body.query, body.ids)
        begun = await asked.drive(
            bulk.start(body.kind, meant, pace, cut_off=body.cut_off, reason=body.reason, schema=asked.schema)
        )
    if begun.id is None:
        raise not_found("job that matches")
    response.headers["Location"] = location(request, f"/operations/{begun.id}")
    return await _operation(asked, begun.id)


@router.get("/operations")
async def list_operations(
    asked: Read,
    open: Annotated[bool, Query(description="Only those that have not ended.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Operation]:
    """List operations, the newest first."""
    before = None if cursor is None else parts_of(cursor, UUID)[0]
    found = await asked.drive(acts.operations(before=before, most=limit + 1, open=open, schema=asked.schema))
    page = found[:limit]
    return Page(
        items=[Operation.model_validate(one) for one in page],
        next=cursor_of(page[-1].id) if len(found) > limit else None,
    )


@router.get("/operations/{operation_id:uuid}")
async def get_operation(operation_id: UUID, asked: Read) -> WholeOperation:
    """Show one operation, and what its replays have come to."""
    found = await _operation(asked, operation_id)
    results = await asked.drive(acts.results(operation_id, schema=asked.schema))
    return WholeOperation(**found.model_dump(), results=results)


@router.get("/operations/{operation_id:uuid}/letters")
async def list_operation_letters(
    operation_id: UUID,
    asked: Read,
    status: Annotated[
        str | None,
        Query(min_length=1, max_length=100, description="Only of these; `waiting`: not tried yet."),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[OperationLetter]:
    """List what became of each of its jobs."""
    await _operation(asked, operation_id)
    after = 0 if cursor is None else _number(parts_of(cursor, int)[0])
    found = await asked.drive(
        acts.items(operation_id, status=status, after=after, most=limit + 1, schema=asked.schema)
    )
    page = found[:limit]
    return Page(
        items=[OperationLetter.model_validate(one) for one in page],
        next=cursor_of(page[-1].n) if len(found) > limit else None,
    )


@router.post("/operations/{operation_id:uuid}/pause")
async def pause_operation(operation_id: UUID, asked: Act, body: ChangeOperation | None = None) -> Operation:
    """Pause an operation; what it has done stays done."""
    return await _change(asked, operation_id, "pause", body)


@router.post("/operations/{operation_id:uuid}/resume")
async def resume_operation(operation_id: UUID, asked: Act, body: ChangeOperation | None = None) -> Operation:
    """Go on with a paused operation; one that its canary has paused goes on with the rest."""
    return await _change(asked, operation_id, "resume", body)


@router.post("/operations/{operation_id:uuid}/approve")
async def approve_operation(operation_id: UUID, asked: Act, body: ChangeOperation | None = None) -> Operation:
    """Approve an operation that somebody else has begun; it goes on then. 409: it was you, or it has ended."""
    return await _change(asked, operation_id, "approve", body)


@router.post("/operations/{operation_id:uuid}/abort")
async def abort_operation(operation_id: UUID, asked: Act, body: ChangeOperation | None = None) -> Operation:
    """End an operation for good; the jobs that it has not come to stay as they are. Before its beginning: all of them."""
    return await _change(asked, operation_id, "abort", body)


async def _change(asked: Asked, id: UUID, verb: acts.Verb, body: ChangeOperation | None) -> Operation:
    before = await _operation(asked, id)
    await _may(asked, before.kind, f"POST /api/v1/operations/{id}/{verb}")
    reason = None if body is None else body.reason
    answer = await asked.drive(acts.change(id, verb, reason=reason, schema=asked.schema))
    if answer.status == "ended":
        raise Problem(409, "operation-ended", f"it has ended: {before.status}")
    if answer.status == "proposed":
        raise Problem(409, "operation-proposed", "somebody else has to approve it first")
    if answer.status == "same_person":
        raise Problem(409, "operation-proposed", "who began it cannot approve it; somebody else has to")
    return await _operation(asked, id)


async def _may(asked: Asked, kind: Kind, target: str) -> None:
    needed = bulk.NEEDS[kind]
    if not asked.principal.may(needed):
        raise await asked.denied(needed, f"the role {asked.principal.role} may not {needed}", target=target)


async def _meant(asked: Asked, query: str | None, ids: list[UUID] | None) -> bulk.Meant:
    if (query is None) == (ids is None):
        raise Problem(422, "invalid-request", "give either query or ids")
    if ids is not None:
        return bulk.by_ids(ids)
    payloads = asked.principal.may(Action.PAYLOADS_READ)
    return await asked.drive(bulk.by_query(query or "", payloads=payloads, schema=asked.schema))


async def _operation(asked: Asked, id: UUID) -> Operation:
    try:
        return Operation.model_validate(await asked.drive(acts.operation(id, schema=asked.schema)))
    except NotFound:
        raise not_found("operation") from None


def _number(value: int) -> int:
    if not 0 <= value < 2**31:
        raise Problem(422, "invalid-cursor", "cursor: take the `next` of the page before, as it is")
    return value


def _chosen(selection: LetterSelection) -> LetterFilter:
    given = selection.model_dump()
    given["job_type"] = given.pop("definition_key")
    return LetterFilter(**given)
