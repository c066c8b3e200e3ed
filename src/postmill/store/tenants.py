"""Statements on tenants and their projects. Run in a request or by an owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class TenantView:
    """A tenant. `max_running` and `retention_seconds` are None where it has no settings of its own.

    Attributes:
        raised_to, raised_until: a higher limit than `max_running`, and until when; None: it is not raised now.
    """

    id: UUID
    slug: str
    name: str
    timezone: str
    status: str
    weight: int
    max_running: int | None
    retention_seconds: float | None
    created_at: datetime
    updated_at: datetime
    raised_to: int | None = None
    raised_until: datetime | None = None

    @property
    def limit(self) -> int | None:
        """Jobs at once that it may have now; None: any number."""
        return self.max_running if self.raised_to is None else self.raised_to


@dataclass(frozen=True, slots=True)
class ProjectView:
    """A project of a tenant."""

    id: UUID
    tenant_id: UUID
    slug: str
    name: str
    created_at: datetime


def list_tenants(
    *,
    after: str = "",
    most: int = 50,
    id: UUID | None = None,
    slug: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[TenantView]]:
    """Tenants by slug, from the one after `after` on."""
    args = (after, most, id, slug)
    return Statement(
        "list_tenants", sql("access/list_tenants", schema), args, lambda rows: [TenantView(*r) for r in rows]
    )


def create_tenant(
    slug: str, settings: Mapping[str, Any], reason: str | None = None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[tuple[UUID | None, str]]:
    """Its id and status: created | exists (the id is that one's) | out_of_scope."""
    args = (slug, orjson.dumps(settings).decode(), reason)
    return Statement(
        "create_tenant", sql("access/create_tenant", schema), args, lambda rows: (rows[0][0], rows[0][1])
    )


def change_tenant(
    id: UUID, settings: Mapping[str, Any], reason: str | None = None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[str]:
    """changed | unchanged | unknown. What `settings` does not name stays."""
    args = (id, orjson.dumps(settings).decode(), reason)
    return Statement("change_tenant", sql("access/change_tenant", schema), args, lambda rows: str(rows[0][0]))


def list_projects(
    tenant_id: UUID, *, after: str = "", most: int = 50, schema: str = DEFAULT_SCHEMA
) -> Statement[list[ProjectView]]:
    """Projects of a tenant by slug, from the one after `after` on."""
    args = (tenant_id, after, most)
    return Statement(
        "list_projects",
        sql("access/list_projects", schema),
        args,
        lambda rows: [ProjectView(*r) for r in rows],
    )


def create_project(
    tenant_id: UUID, slug: str, name: str | None = None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[ProjectView | None]:
    """The new project; None where there is one of that slug, or no such tenant in scope."""
    args = (tenant_id, slug, name)
    return Statement(
        "create_project",
        sql("access/create_project", schema),
        args,
        lambda rows: (
            ProjectView(rows[0][0], tenant_id, slug, name or slug, rows[0][1])
            if rows[0][2] == "created"
            else None
        ),
    )
