"""What the platform says of causes of failures."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends

from postmill.api.asked import Asked, may
from postmill.api.problems import not_found
from postmill.api.routes.errors import GroupId, Read, error_facts
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.operate import error_groups as acts
from postmill.shapes.errors import (
    ErrorGroup,
    ErrorNote,
    IgnoreError,
    NewNote,
    ReopenError,
    ResolveError,
    TenantToTell,
)
from postmill.shapes.paging import Page
from postmill.store.error_groups import read_error_groups

router = new_router("errors")

Write = Annotated[Asked, Depends(may(Action.ERRORS_WRITE))]


@router.post("/errors/{group_id}/ignore")
async def ignore_error_group(group_id: GroupId, body: IgnoreError, asked: Write) -> ErrorGroup:
    """Say that nobody needs to look at it before a moment."""
    group = await asked.drive(acts.ignore(group_id, body.until, reason=body.reason, schema=asked.schema))
    return ErrorGroup(**error_facts(group))


@router.post("/errors/{group_id}/resolve")
async def resolve_error_group(
    group_id: GroupId, asked: Write, body: ResolveError | None = None
) -> ErrorGroup:
    """Say that it is over with a version of its definition. A failure of that version or of a later one is a relapse."""
    given = body or ResolveError()
    group = await asked.drive(
        acts.resolve(
            group_id, version=given.version, build=given.build, reason=given.reason, schema=asked.schema
        )
    )
    return ErrorGroup(**error_facts(group))


@router.post("/errors/{group_id}/reopen")
async def reopen_error_group(group_id: GroupId, asked: Write, body: ReopenError | None = None) -> ErrorGroup:
    """Take back what was said of it."""
    reason = None if body is None else body.reason
    group = await asked.drive(acts.reopen(group_id, reason=reason, schema=asked.schema))
    return ErrorGroup(**error_facts(group))


@router.get("/errors/{group_id}/notes")
async def list_error_notes(group_id: GroupId, asked: Read) -> Page[ErrorNote]:
    """List what the platform's people wrote on it, the latest first; at most 50, and none for a tenant."""
    if not await asked.run(read_error_groups(id=group_id, most=1, schema=asked.schema)):
        raise not_found("error group")
    found = await asked.drive(acts.notes(group_id, schema=asked.schema))
    return Page(items=[ErrorNote.model_validate(one) for one in found], next=None)


@router.post("/errors/{group_id}/notes", status_code=201)
async def write_error_note(group_id: GroupId, body: NewNote, asked: Write) -> ErrorGroup:
    """Write on it, for the platform's people."""
    group = await asked.drive(acts.note(group_id, body.text, schema=asked.schema))
    return ErrorGroup(**error_facts(group))


@router.post("/errors/{group_id}/export")
async def export_error_tenants(group_id: GroupId, asked: Write) -> Page[TenantToTell]:
    """List every tenant that it affects, to tell them; noted in the audit log."""
    found = await asked.drive(acts.to_tell(group_id, schema=asked.schema))
    return Page(
        items=[
            TenantToTell(
                tenant_id=one.tenant_id,
                slug=one.slug,
                name=one.name,
                first_seen_at=one.first_seen_at,
                last_seen_at=one.last_seen_at,
                count=one.count,
                dead_letters=one.dead,
                sample_job_id=one.sample_job,
            )
            for one in found
        ],
        next=None,
    )
