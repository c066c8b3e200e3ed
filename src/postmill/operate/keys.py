"""API keys, login links and logins, as people handle them. Flows, to be run as those of `commands` are.

`by` is who hands out: he gives nobody more than he may himself, and nothing in another tenant. None is an owner of
the database, who may anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from postmill.domain.access import PLATFORM_ROLES, TENANT_ROLES, Principal, Role
from postmill.domain.errors import InvalidValue, NotFound, NotPermitted
from postmill.domain.secret import KEY_PREFIX, new_secret
from postmill.operate.tenants import tenant as find_tenant
from postmill.store import keys as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow

LINK_SECONDS = 3600.0
"""How long a login link waits to be used, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made. `key` is its secret: it is never shown again."""

    id: UUID
    key: str
    prefix: str
    name: str
    tenant_id: UUID | None
    role: Role
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewLink:
    """A login link that was just made: `token` opens one login until `expires_at`."""

    token: str
    actor_id: str
    tenant_id: UUID | None
    role: Role
    expires_at: datetime


def create_key(
    name: str,
    role: Role,
    *,
    tenant: str | UUID | None = None,
    expires_at: datetime | None = None,
    by: Principal | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[NewKey]:
    """A new API key with a role, in a tenant (slug or id) or of the platform.

    Raises:
        InvalidValue: the name is empty or too long, the role does not go with a tenant or needs one, or the end is past.
        NotFound: there is no such tenant in scope.
        NotPermitted: the role is above that of `by`, or outside of his tenant.
    """
    if not 1 <= len(name.strip()) <= 200:
        raise InvalidValue("a key's name is 1 to 200 characters: say what it is for")
    if expires_at is not None and expires_at.utcoffset() is None:
        raise InvalidValue("expires_at is a datetime without a time zone; give it one")
    tenant_id = yield from _home(role, tenant, by, schema)
    secret = new_secret(KEY_PREFIX)
    id, created_at, status = yield store.create_key(
        secret, name.strip(), role, tenant_id, expires_at, schema=schema
    )
    if status == "expired":
        raise InvalidValue("the key would be over already: its end is not in the future")
    if status != "created":
        raise NotFound("there is no such tenant")
    return NewKey(id, secret.clear, secret.prefix, name.strip(), tenant_id, role, created_at, expires_at)


def revoke_key(id: UUID, *, reason: str | None = None, schema: str = DEFAULT_SCHEMA) -> Flow[str]:
    """Revokes a key at once: `revoked`, or `already`.

    Raises:
        NotFound: there is no such key in scope.
    """
    status: str = yield store.revoke_key(id, reason, schema=schema)
    if status == "unknown":
        raise NotFound(f"there is no key {id}")
    return status


def end_login(id: UUID, *, reason: str | None = None, schema: str = DEFAULT_SCHEMA) -> Flow[str]:
    """Ends somebody's login at once: `ended`, or `already`.

    Raises:
        NotFound: there is no such login in scope.
    """
    status: str = yield store.end_login(id, reason, schema=schema)
    if status == "unknown":
        raise NotFound(f"there is no login {id}")
    return status


def create_link(
    actor_id: str,
    role: Role,
    *,
    tenant: str | UUID | None = None,
    seconds: float = LINK_SECONDS,
    by: Principal | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[NewLink]:
    """A link that opens one login as `actor_id`, with a role.

    Raises:
        InvalidValue: the role does not go with a tenant, or needs one.
        NotFound: there is no such tenant in scope.
        NotPermitted: the role is above that of `by`, or outside of his tenant.
    """
    tenant_id = yield from _home(role, tenant, by, schema)
    secret = new_secret()
    expires_at, status = yield store.create_link(secret, actor_id, role, tenant_id, seconds, schema=schema)
    if status != "created":
        raise NotFound("there is no such tenant")
    return NewLink(secret.clear, actor_id, tenant_id, role, expires_at)


def _home(role: Role, tenant: str | UUID | None, by: Principal | None, schema: str) -> Flow[UUID | None]:
    """The tenant in which a role is handed out."""
    if by is not None and tenant is None:
        tenant = by.tenant_id
    if tenant is None and role in TENANT_ROLES:
        raise InvalidValue(f"the role {role} is one within a tenant; name the tenant")
    if tenant is not None and role in PLATFORM_ROLES:
        if by is not None and not by.platform:
            raise NotPermitted(f"the role {by.role} may not hand out the role {role}")
        raise InvalidValue(f"the role {role} is the platform's; it does not go with a tenant")
    found = None
    if tenant is not None:
        found = (yield from find_tenant(tenant, schema=schema)).id
    if by is not None and not by.may_hand_out(role, found):
        raise NotPermitted(f"the role {by.role} may not hand out the role {role}")
    return found
