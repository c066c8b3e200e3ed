"""The two scopes of pages: the platform (`/ops/…`) and one tenant (`/t/<slug>/…`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from postmill.api.asked import Asked
from postmill.api.problems import not_found
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
    """

    prefix: str
    tenant: TenantView | None = None

    @property
    def ops(self) -> bool:
        """Whether it is the platform."""
        return self.tenant is None

    @property
    def topic(self) -> str:
        """How its topics of live updates end: `ops`, or the tenant's id."""
        return "ops" if self.tenant is None else str(self.tenant.id)


PLATFORM = Scope(OPS)


async def entered(asked: Asked, slug: str | None) -> tuple[Scope, Asked]:
    """The scope of a path, and the request within it: of the platform's people within a tenant only that is seen.

    Raises:
        Problem: 404 for a scope that is not the caller's, as for one that does not exist.
    """
    if asked.principal.role is Role.WORKER:
        raise not_found("page")
    if slug is None:
        if not asked.principal.platform:
            raise not_found("page")
        return PLATFORM, asked
    found = await asked.run(list_tenants(slug=slug, most=1, schema=asked.schema))
    if not found:
        raise not_found("tenant")
    [tenant] = found
    principal = replace(asked.principal, tenant_id=tenant.id)
    return Scope(TENANT.format(slug=tenant.slug), tenant), replace(asked, principal=principal)


def home(asked: Asked, slug: str | None) -> str:
    """Where somebody belongs, as a path below our root: the platform's people to Now, others to their tenant."""
    return OPS if slug is None else TENANT.format(slug=slug)
