"""Tenants and projects; API keys and logins; who asks."""

from __future__ import annotations

from datetime import datetime

from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.keys import Ended, Key, Login, MadeKey
from postmill.shapes.paging import Page
from postmill.shapes.session import Session
from postmill.shapes.tenants import NewTenant, Project, Tenant, TenantChanges


def list_tenants(*, limit: int | None = None, cursor: str | None = None) -> Call[Page[Tenant]]:
    """Tenants, by slug."""
    return get(at("tenants"), model(Page[Tenant]), limit=limit, cursor=cursor)


def create_tenant(tenant: NewTenant, *, idempotency_key: str | None = None) -> Call[Tenant]:
    """Makes a tenant."""
    return write("POST", at("tenants"), model(Tenant), tenant, key=idempotency_key)


def get_tenant(tenant: Id) -> Call[Tenant]:
    """One tenant, by slug or id."""
    return get(at("tenants", tenant), model(Tenant))


def change_tenant(tenant: Id, changes: TenantChanges, *, idempotency_key: str | None = None) -> Call[Tenant]:
    """Changes the settings of a tenant that are set in `changes`. A suspended one's keys and logins open nothing."""
    return write("PATCH", at("tenants", tenant), model(Tenant), changes, key=idempotency_key)


def list_projects(tenant: Id, *, limit: int | None = None, cursor: str | None = None) -> Call[Page[Project]]:
    """Projects of a tenant, by slug."""
    return get(at("tenants", tenant, "projects"), model(Page[Project]), limit=limit, cursor=cursor)


def create_project(
    tenant: Id, slug: str, *, name: str | None = None, idempotency_key: str | None = None
) -> Call[Project]:
    """Makes a project of a tenant; its name is its slug by default."""
    body = {"slug": slug, "name": name}
    return write("POST", at("tenants", tenant, "projects"), model(Project), body, key=idempotency_key)


def list_keys(
    *, live: bool | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[Key]]:
    """API keys, the newest first; `live`: without those revoked or over."""
    return get(at("keys"), model(Page[Key]), live=live, limit=limit, cursor=cursor)


def create_key(
    name: str,
    role: str,
    *,
    tenant: Id | None = None,
    expires_at: datetime | None = None,
    idempotency_key: str | None = None,
) -> Call[MadeKey]:
    """Makes an API key, with a role not above one's own. The secret is in this answer, and never again.

    If the answer is lost, the request is not done twice and ends with Conflict (`answer-not-kept`): revoke that key.
    """
    body = {"name": name, "role": role, "tenant": tenant, "expires_at": expires_at}
    return write("POST", at("keys"), model(MadeKey), body, key=idempotency_key)


def revoke_key(key_id: Id, *, reason: str | None = None, idempotency_key: str | None = None) -> Call[Ended]:
    """Revokes a key; the next request with it is refused."""
    return write("DELETE", at("keys", key_id), model(Ended), key=idempotency_key, query={"reason": reason})


def list_logins(*, limit: int | None = None, cursor: str | None = None) -> Call[Page[Login]]:
    """Logins of the console that hold, the newest first."""
    return get(at("logins"), model(Page[Login]), limit=limit, cursor=cursor)


def end_login(login_id: Id, *, reason: str | None = None, idempotency_key: str | None = None) -> Call[Ended]:
    """Ends somebody's login; his next request is refused."""
    return write(
        "DELETE", at("logins", login_id), model(Ended), key=idempotency_key, query={"reason": reason}
    )


def get_session() -> Call[Session]:
    """Who this key is, and what it may."""
    return get(at("session"), model(Session))
