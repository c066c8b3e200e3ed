"""Tenants and their projects."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Depends

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.routing import new_router
from postmill.cells import moves
from postmill.domain.access import Action
from postmill.domain.errors import AlreadyThere
from postmill.domain.settings_cells import directory_of
from postmill.operate import tenants
from postmill.shapes.paging import Page
from postmill.shapes.tenants import NewProject, NewTenant, Project, Tenant, TenantChanges

router = new_router("tenants")


@router.get("/tenants", operation_id="list_tenants")
async def list_tenants(
    asked: Annotated[Asked, Depends(may(Action.TENANTS_READ))], limit: Limit = 50, cursor: Cursor = None
) -> Page[Tenant]:
    """Tenants, by slug."""
    after = parts_of(cursor, str)[0] if cursor else ""
    found = await asked.drive(tenants.tenants(after=after, most=limit, schema=asked.schema))
    items = [Tenant.model_validate(tenant) for tenant in found]
    return Page(items=items, next=cursor_of(items[-1].slug) if len(items) == limit else None)


@router.post("/tenants", operation_id="create_tenant", status_code=201)
async def create_tenant(
    body: NewTenant, asked: Annotated[Asked, Depends(may(Action.TENANTS_WRITE))]
) -> Tenant:
    """Make a tenant; where there are cells, in the one that the request goes to."""
    settings = asked.backend.settings
    home = settings.cell or directory_of(settings.cells)
    schema = settings.schema_name
    if home is not None and await asyncio.to_thread(moves.placed, settings.cells, body.slug, schema=schema):
        raise AlreadyThere(f"the directory of cells has a tenant {body.slug!r} already")
    made = await asked.drive(tenants.create_tenant(body.slug, schema=asked.schema, **_named(body)))
    if home is not None:
        await asyncio.to_thread(moves.enter, settings.cells, made.id, made.slug, home, schema=schema)
    return Tenant.model_validate(made)


@router.get("/tenants/{tenant}", operation_id="get_tenant")
async def get_tenant(tenant: str, asked: Annotated[Asked, Depends(may(Action.TENANTS_READ))]) -> Tenant:
    """One tenant, by slug or id."""
    return Tenant.model_validate(await asked.drive(tenants.tenant(tenant, schema=asked.schema)))


@router.patch("/tenants/{tenant}", operation_id="change_tenant")
async def change_tenant(
    tenant: str, body: TenantChanges, asked: Annotated[Asked, Depends(may(Action.TENANTS_WRITE))]
) -> Tenant:
    """Change settings of a tenant; those that are not named stay. A suspended one's keys and logins open nothing."""
    changed = await asked.drive(tenants.change_tenant(tenant, schema=asked.schema, **_named(body)))
    asked.backend.keys.forget()
    return Tenant.model_validate(changed)


@router.get("/tenants/{tenant}/projects", operation_id="list_projects")
async def list_projects(
    tenant: str,
    asked: Annotated[Asked, Depends(may(Action.JOBS_READ))],
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Project]:
    """Projects of a tenant, by slug."""
    after = parts_of(cursor, str)[0] if cursor else ""
    found = await asked.drive(tenants.projects(tenant, after=after, most=limit, schema=asked.schema))
    items = [Project.model_validate(project) for project in found]
    return Page(items=items, next=cursor_of(items[-1].slug) if len(items) == limit else None)


@router.post("/tenants/{tenant}/projects", operation_id="create_project", status_code=201)
async def create_project(
    tenant: str, body: NewProject, asked: Annotated[Asked, Depends(may(Action.KEYS_WRITE))]
) -> Project:
    """Make a project of a tenant."""
    made = await asked.drive(tenants.create_project(tenant, body.slug, body.name, schema=asked.schema))
    return Project.model_validate(made)


def _named(body: TenantChanges) -> dict[str, Any]:
    """What was given; a null counts only where it means something."""
    given = body.model_dump(exclude_unset=True, exclude={"slug"})
    nullable = ("max_running", "raised_to", "raised_until", "retention_seconds", "reason")
    return {key: value for key, value in given.items() if value is not None or key in nullable}
