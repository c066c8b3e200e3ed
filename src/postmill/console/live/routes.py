"""Where browsers listen: `/ops/live` for the platform's people, `/t/{slug}/live` for a tenant's."""

from __future__ import annotations

from contextlib import AsyncExitStack
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from postmill.api.authentication import authenticate
from postmill.api.backend import Backend
from postmill.api.faults import meaning
from postmill.api.problems import Problem, not_found, unauthorized
from postmill.bind import arun
from postmill.console.live.answer import LiveAnswer
from postmill.console.live.hub import Full, Hub
from postmill.domain.access import Principal, Role
from postmill.store.access import find_tenant

router = APIRouter()


@router.get("/ops/live", include_in_schema=False)
async def follow_platform(request: Request) -> Response:
    """Pings of everything: of `ops` for the platform's own pages, and of every tenant by its id."""
    principal = _asking(request)
    if not principal.platform:
        raise not_found("page")
    return await _follow(request, principal, None)


@router.get("/t/{slug}/live", include_in_schema=False)
async def follow_tenant(request: Request, slug: str) -> Response:
    """Pings of one tenant."""
    principal = _asking(request)
    backend: Backend = request.app.state.backend
    async with backend.pool.connection() as conn:
        found = await arun(conn, find_tenant(slug, schema=backend.schema))
    if found is None or not (principal.platform or principal.tenant_id == found[0]):
        raise not_found("page")
    return await _follow(request, principal, found[0])


def _asking(request: Request) -> Principal:
    principal: Principal | None = getattr(request.state, "principal", None)
    if principal is None:
        raise unauthorized("log in to follow what happens")
    if principal.role is Role.WORKER:
        raise not_found("page")
    return principal


async def _follow(request: Request, principal: Principal, tenant: UUID | None) -> Response:
    backend: Backend = request.app.state.backend
    hub: Hub = request.app.state.live
    stack = AsyncExitStack()
    try:
        stream = await stack.enter_async_context(
            hub.joined(_who(principal), tenant, backend, principal.tenant_id)
        )
    except Full:
        raise Problem(
            429,
            "too-many-streams",
            "too many live streams are open; pages poll instead",
            headers={"Retry-After": "60"},
        ) from None

    async def holds() -> bool:
        try:
            return await authenticate(request, backend) == principal
        except Problem:
            return False
        except Exception as error:
            if meaning(error) is None:
                raise
            return True  # the database is away: nobody can say, and no ping comes

    return LiveAnswer(stream, holds, stack.aclose, heartbeat=hub.heartbeat, recheck=hub.recheck)


def _who(principal: Principal) -> str:
    return f"{principal.actor_type} {principal.actor_id} {principal.tenant_id}"
