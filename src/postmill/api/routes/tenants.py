"""Tenants and their projects."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Depends
from pydantic import Field

from postmill.api.asked import Asked, may
from postmill.api.models import Model
from postmill.api.paging import Cursor, Limit, Page, cursor_of, parts_of
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.operate import tenants

router = new_router("tenants")

Status = Literal["active", "throttled", "suspended"]


class Settings(Model):
    """What the platform says of a tenant."""

    name: str | None = Field(default=None, min_length=1, max_length=200, examples=["Ada's bakery"])
    timezone: str | None = Field(default=None, max_length=64, examples=["Europe/Amsterdam"])
    status: Status | None = Field(default=None, examples=["active"])
    weight: int | None = Field(
        default=None, ge=1, le=1000, description="Its share of a queue beside others'.", examples=[1]
    )
    max_running: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="Jobs at once; null is without limit.", examples=[20]
    )
    retention_seconds: float | None = Field(
        default=None,
        gt=0,
        le=3_162_240_000,
        description="How long its history is kept; null is the platform's.",
    )
    reason: str | None = Field(default=None, max_length=2000, description="Why; for the audit log.")

    def named(self) -> dict[str, Any]:
        """What was given; a null counts only where it means something."""
        given = self.model_dump(exclude_unset=True, exclude={"slug"})
        nullable = ("max_running", "retention_seconds", "reason")
        return {key: value for key, value in given.items() if value is not None or key in nullable}


class NewTenant(Settings):
    """A tenant to be made."""

    slug: str = Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", examples=["bakery"])


class Tenant(Model):
    """A tenant."""

    id: UUID
    slug: str = Field(examples=["bakery"])
    name: str = Field(examples=["Ada's bakery"])
    timezone: str = Field(examples=["Europe/Amsterdam"])
    status: Status = Field(examples=["active"])
    weight: int = Field(examples=[1])
    max_running: int | None
    retention_seconds: float | None
    created_at: datetime
    updated_at: datetime


class NewProject(Model):
    """A project to be made."""

    slug: str = Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", examples=["wedding-cakes"])
    name: str | None = Field(default=None, min_length=1, max_length=200, examples=["Wedding cakes"])


class Project(Model):
    """A project of a tenant."""

    id: UUID
    tenant_id: UUID
    slug: str = Field(examples=["wedding-cakes"])
    name: str = Field(examples=["Wedding cakes"])
    created_at: datetime


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
    """Make a tenant."""
    made = await asked.drive(tenants.create_tenant(body.slug, schema=asked.schema, **body.named()))
    return Tenant.model_validate(made)


@router.get("/tenants/{tenant}", operation_id="get_tenant")
async def get_tenant(tenant: str, asked: Annotated[Asked, Depends(may(Action.TENANTS_READ))]) -> Tenant:
    """One tenant, by slug or id."""
    return Tenant.model_validate(await asked.drive(tenants.tenant(tenant, schema=asked.schema)))


@router.patch("/tenants/{tenant}", operation_id="change_tenant")
async def change_tenant(
    tenant: str, body: Settings, asked: Annotated[Asked, Depends(may(Action.TENANTS_WRITE))]
) -> Tenant:
    """Change settings of a tenant; those that are not named stay. A suspended one's keys and logins open nothing."""
    changed = await asked.drive(tenants.change_tenant(tenant, schema=asked.schema, **body.named()))
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
