"""Tenants and projects, as people handle them. Flows, to be run as those of `commands` are."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from postmill.domain.errors import AlreadyThere, NotFound
from postmill.domain.tenant import check_slug, check_tenant
from postmill.store import tenants as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow
from postmill.store.tenants import ProjectView, TenantView


def tenants(*, after: str = "", most: int = 50, schema: str = DEFAULT_SCHEMA) -> Flow[list[TenantView]]:
    """Tenants in scope, by slug; `after` is the last page's last slug."""
    found: list[TenantView] = yield store.list_tenants(after=after, most=most, schema=schema)
    return found


def tenant(name: str | UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[TenantView]:
    """One tenant, by slug or id.

    Raises:
        NotFound: there is no such tenant in scope.
    """
    found: list[TenantView] = []
    if isinstance(name, str):
        found = yield store.list_tenants(slug=name, most=1, schema=schema)
    id = _id(name)
    if not found and id is not None:
        found = yield store.list_tenants(id=id, most=1, schema=schema)
    if not found:
        raise NotFound(f"there is no tenant {str(name)[:80]!r}")
    return found[0]


def create_tenant(
    slug: str, *, reason: str | None = None, schema: str = DEFAULT_SCHEMA, **settings: Any
) -> Flow[TenantView]:
    """A new tenant; `settings` are those of `postmill.domain.tenant.check_tenant`.

    Raises:
        InvalidValue: slug or a setting is none.
        AlreadyThere: the slug is taken.
        NotFound: not within a tenant.
    """
    id, status = yield store.create_tenant(check_slug(slug), check_tenant(settings), reason, schema=schema)
    if status == "exists":
        raise AlreadyThere(f"there is a tenant {slug!r} already")
    if id is None:
        raise NotFound("only the platform makes tenants")
    made: TenantView = yield from tenant(id, schema=schema)
    return made


def change_tenant(
    name: str | UUID, /, *, reason: str | None = None, schema: str = DEFAULT_SCHEMA, **settings: Any
) -> Flow[TenantView]:
    """Changes those settings of a tenant that are named.

    Raises:
        InvalidValue: a setting is none.
        NotFound: there is no such tenant, or whoever asks is not of the platform.
    """
    checked = check_tenant(settings)
    found = yield from tenant(name, schema=schema)
    if (yield store.change_tenant(found.id, checked, reason, schema=schema)) == "unknown":
        raise NotFound(f"there is no tenant {str(name)[:80]!r} that may be changed from here")
    changed: TenantView = yield from tenant(found.id, schema=schema)
    return changed


def projects(
    tenant_name: str | UUID, *, after: str = "", most: int = 50, schema: str = DEFAULT_SCHEMA
) -> Flow[list[ProjectView]]:
    """Projects of a tenant by slug.

    Raises:
        NotFound: there is no such tenant in scope.
    """
    owner = yield from tenant(tenant_name, schema=schema)
    found: list[ProjectView] = yield store.list_projects(owner.id, after=after, most=most, schema=schema)
    return found


def create_project(
    tenant_name: str | UUID, slug: str, name: str | None = None, *, schema: str = DEFAULT_SCHEMA
) -> Flow[ProjectView]:
    """A new project of a tenant.

    Raises:
        InvalidValue: the slug is none.
        AlreadyThere: the tenant has a project of that slug.
        NotFound: there is no such tenant in scope.
    """
    check_slug(slug, "project")
    owner = yield from tenant(tenant_name, schema=schema)
    made: ProjectView | None = yield store.create_project(owner.id, slug, name, schema=schema)
    if made is None:
        raise AlreadyThere(f"tenant {owner.slug!r} has a project {slug!r} already")
    return made


def _id(name: str | UUID) -> UUID | None:
    try:
        return name if isinstance(name, UUID) else UUID(name)
    except ValueError:
        return None
