"""Who asks: an API key or a provider's token as bearer, or the cookie of a login."""

from __future__ import annotations

from fastapi import Request

from postmill.api.backend import Backend
from postmill.api.cookies import COOKIE, SAFE, comes_from_here
from postmill.api.problems import Problem, unauthorized
from postmill.bind import arun
from postmill.domain.access import Principal
from postmill.domain.secret import KEY_PREFIX, hashed
from postmill.store.access import find_key, find_login, find_tenant


async def authenticate(request: Request, backend: Backend) -> Principal:
    """The principal of a request.

    Raises:
        Problem: 401, without credentials or with such that do not hold; 403, where the tenant is suspended, a token
            gives no role here, or another site's page uses the cookie.
    """
    given = request.headers.get("authorization")
    if given is not None:
        scheme, _, token = given.partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            raise unauthorized("send an API key as `Authorization: Bearer <key>`")
        if backend.provider is not None and not token.startswith(KEY_PREFIX):
            return await _by_token(token, request, backend)
        return await _by_key(token, request, backend)
    cookie = request.cookies.get(COOKIE)
    if cookie is not None:
        return await _by_cookie(cookie, request, backend)
    raise unauthorized("send an API key as `Authorization: Bearer <key>`, or log in")


def address_of(request: Request) -> str | None:
    """Where a request came from: the peer, or what a trusted proxy says (the setting `server.trusted_proxies`)."""
    return None if request.client is None else request.client.host[:100]


async def _by_key(token: str, request: Request, backend: Backend) -> Principal:
    hash = hashed(token)
    key = backend.keys.get(hash)
    if key is None:
        async with backend.pool.connection() as conn:
            key = await arun(conn, find_key(hash, schema=backend.schema))
        if key is None:
            raise unauthorized("this API key is unknown, revoked or over")
        backend.keys.put(hash, key)
    principal = Principal("api_key", str(key.id), key.role, key.tenant_id, address=address_of(request))
    await _check_tenant(key.tenant_status, principal, request, backend)
    return principal


async def _by_token(token: str, request: Request, backend: Backend) -> Principal:
    assert backend.provider is not None
    claims = await backend.provider.claims(token)
    role = backend.provider.role(claims)
    name = backend.provider.tenant(claims, role)
    tenant_id = status = None
    if name is not None:
        async with backend.pool.connection() as conn:
            found = await arun(conn, find_tenant(name, schema=backend.schema))
        if found is None:
            raise Problem(403, "no-tenant", "this token names a tenant that does not exist here")
        tenant_id, status = found
    principal = Principal("user", str(claims["sub"])[:200], role, tenant_id, address=address_of(request))
    await _check_tenant(status, principal, request, backend)
    return principal


async def _by_cookie(cookie: str, request: Request, backend: Backend) -> Principal:
    async with backend.pool.connection() as conn:
        login = await arun(conn, find_login(hashed(cookie), schema=backend.schema))
    if login is None:
        raise unauthorized("this login has ended; log in again")
    principal = Principal("user", login.actor_id, login.role, login.tenant_id, "console", address_of(request))
    await _check_tenant(login.tenant_status, principal, request, backend)
    public_url = backend.settings.server.public_url
    if request.method not in SAFE and not comes_from_here(request, cookie, public_url):
        detail = "with a cookie, an unsafe request must come from our own pages or have the CSRF token"
        raise await _denied(principal, "cross-site", detail, request, backend)
    request.state.login = login
    return principal


async def _check_tenant(status: str | None, principal: Principal, request: Request, backend: Backend) -> None:
    if status == "suspended":
        raise await _denied(principal, "tenant-suspended", "this tenant is suspended", request, backend)


async def _denied(
    principal: Principal, kind: str, detail: str, request: Request, backend: Backend
) -> Problem:
    """403, written down: who it is is known, but not let in."""
    target = f"{request.method} {request.url.path}"
    await backend.denied(principal, f"requests.{kind}", detail, request.state.request_id, target)
    return Problem(403, kind, detail)
