"""To see what a tenant sees: a cookie of an hour takes the platform's people into one tenant, where they only read.

It gives nothing to whoever sets it by hand: the platform's people may look into every tenant, and here they may less.
"""

from __future__ import annotations

import re

from fastapi import Request
from starlette.responses import Response

from postmill.domain.access import PERMISSIONS, Action, Principal, Role

COOKIE = "postmill_view_as"
SECONDS = 3600


def viewed(request: Request) -> str | None:
    """The slug of the tenant that is looked at so; None: none is."""
    value = request.cookies.get(COOKIE, "")
    return value if re.fullmatch(r"[a-z0-9-]{1,63}", value) else None


def role_there(principal: Principal) -> Role:
    """The most of a tenant's roles that may nothing which the own role may not."""
    own = PERMISSIONS[principal.role]
    fitting = (role for role in (Role.TENANT_ADMIN, Role.OPERATOR, Role.VIEWER) if PERMISSIONS[role] <= own)
    return next(fitting, principal.role)


def may_view(principal: Principal) -> bool:
    """Whether somebody may begin it: the platform's people who see its tenants."""
    return principal.platform and principal.may(Action.TENANTS_READ)


def begin(answer: Response, request: Request, slug: str) -> None:
    """From the next page on."""
    answer.set_cookie(
        COOKIE,
        slug,
        max_age=SECONDS,
        path=request.scope.get("root_path") or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def end(answer: Response, request: Request) -> None:
    """No more."""
    answer.delete_cookie(COOKIE, path=request.scope.get("root_path") or "/", httponly=True, samesite="lax")
