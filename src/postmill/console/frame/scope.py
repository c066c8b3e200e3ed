"""The two scopes of pages: the platform (`/ops/…`) and one tenant (`/t/<slug>/…`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from postmill.api.asked import Asked
from postmill.api.problems import not_found
from postmill.console.frame.view_as import may_view, role_there
from postmill.domain.access import Role
from postmill.store.tenants import TenantView, list_tenants

OPS = "/ops"
TENANT = "/t/{slug}"


@dataclass(frozen=True, slots=True)
class Scope:
    """Which of the two a page is of; what is seen is decided by the database, in the request's transaction.

    Attributes:
        prefix: how its paths begin, below our root.
        tenant: the tenant; None is the platform.
        viewing: one of the platform's people looks at a tenant's pages as its own people see them, and only reads.
    """

    prefix: str
    tenant: TenantView | None = None
    viewing: bool = False

    @property
    def ops(self) -> bool:
        """Whether it is the platform."""
        return self.tenant is None

    @property
    def topic(self) -> str:
        """How its topics of live updates end: `ops`, or the tenant's id."""
        return "ops" if self.tenant is None else str(self.tenant.id)


PLATFORM = Scope(OPS)


async def entered(asked: Asked, slug: str | None, viewed: str | None = None) -> tuple[Scope, Asked]:
    """The scope of a path, and the request within it: of the platform's people within a tenant only that is seen.

    Args:
        viewed: the tenant that they look at as its own people do; then there is nothing else.

    Raises:
        Problem: 404 for a scope that is not the caller's, as for one that does not exist.
    """
    principal = asked.principal
    if principal.role is Role.WORKER:
        raise not_found("page")
    viewing = viewed if viewed is not None and may_view(principal) else None
    if slug is None and not principal.platform:
        raise not_found("page")
    if slug is None and (viewing is None or not await _named(asked, viewing)):
        return PLATFORM, asked
    found = [] if slug is None else await _named(asked, slug)
    if not found or (viewing is not None and slug != viewing and await _named(asked, viewing)):
        raise not_found("tenant" if viewing is None else f"page while you view as the tenant {viewing}; that")
    [tenant] = found
    scope = Scope(TENANT.format(slug=tenant.slug), tenant, viewing == slug)
    role = role_there(principal) if scope.viewing else principal.role
    return scope, replace(asked, principal=replace(principal, tenant_id=tenant.id, role=role))


async def _named(asked: Asked, slug: str) -> list[TenantView]:
    return await asked.run(list_tenants(slug=slug, most=1, schema=asked.schema))


async def own_slug(asked: Asked) -> str | None:
    """The slug of the tenant that somebody belongs to; None: the platform's people belong to none."""
    if asked.principal.tenant_id is None:
        return None
    [tenant] = await asked.run(list_tenants(id=asked.principal.tenant_id, most=1, schema=asked.schema))
    return tenant.slug


def home(asked: Asked, slug: str | None) -> str:
    """Where somebody belongs, as a path below our root: the platform's people to Now, others to their tenant."""
    return OPS if slug is None else TENANT.format(slug=slug)
