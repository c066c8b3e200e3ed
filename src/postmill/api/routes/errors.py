"""Causes of failures."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Path, Query

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.problems import not_found
from postmill.api.routes.jobs import DefinitionKey, Tenant
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.domain.redaction import redacted_text
from postmill.shapes.errors import AffectedTenant, ErrorGroup, GroupStatus, WholeErrorGroup
from postmill.shapes.moments import Moment
from postmill.shapes.paging import Page
from postmill.store.error_groups import ErrorGroupView, read_error_groups, read_error_tenants

router = new_router("errors")

Read = Annotated[Asked, Depends(may(Action.JOBS_READ))]


@router.get("/errors")
async def list_error_groups(
    asked: Read,
    definition_key: DefinitionKey = None,
    error_class: Annotated[
        str | None, Query(min_length=1, max_length=300, description="Of this class.")
    ] = None,
    since: Annotated[Moment | None, Query(description="Seen since then.")] = None,
    status: Annotated[GroupStatus | None, Query(description="That are this now.")] = None,
    tenant_id: Tenant = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ErrorGroup]:
    """List causes of failures, those seen last first."""
    before = None if cursor is None else parts_of(cursor, datetime.fromisoformat, str)
    found = await asked.run(
        read_error_groups(
            tenant=tenant_id,
            job_type=definition_key,
            error_class=error_class,
            since=since,
            before=None if before is None else (before[0], before[1]),
            statuses=None if status is None else [status],
            most=limit + 1,
            schema=asked.schema,
        )
    )
    page = found[:limit]
    return Page(
        items=[ErrorGroup(**error_facts(group)) for group in page],
        next=cursor_of(*page[-1].position) if len(found) > limit else None,
    )


GroupId = Annotated[str, Path(pattern="^[0-9a-f]{16}$", description="The group's id.")]


@router.get("/errors/{group_id}")
async def get_error_group(group_id: GroupId, asked: Read) -> WholeErrorGroup:
    """Show one cause of failures, and whom it affects."""
    found = await asked.run(read_error_groups(id=group_id, most=1, schema=asked.schema))
    if not found:
        raise not_found("error group")
    affected = await asked.run(read_error_tenants(group_id, schema=asked.schema))
    return WholeErrorGroup(
        **error_facts(found[0]),
        affected=[
            AffectedTenant(
                tenant_id=one.tenant_id,
                slug=one.slug,
                first_seen_at=one.first_seen_at,
                last_seen_at=one.last_seen_at,
                count=one.count,
                sample_job_id=one.sample_job,
            )
            for one in affected
        ],
    )


def error_facts(group: ErrorGroupView) -> dict[str, Any]:
    return {
        "id": group.id,
        "definition_key": group.job_type,
        "error_class": group.error_class,
        "message": redacted_text(group.message),
        "frame": group.frame,
        "error_code": group.error_code,
        "error_status": group.error_status,
        "first_seen_at": group.first_seen_at,
        "last_seen_at": group.last_seen_at,
        "count": group.count,
        "tenants": group.tenants,
        "sample_job_id": group.sample_job,
        "status": group.status,
        "first_version": group.first_version,
        "last_version": group.last_version,
        "ignored_until": group.ignored_until,
        "resolved_version": group.resolved_version,
        "resolved_build": group.resolved_build,
        "resolved_at": group.resolved_at,
        "regressed_at": group.regressed_at,
        "marked_by": group.marked_by,
        "mark_note": group.mark_note,
    }
