"""The way in and out: the first page, the login and the logout."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse, Response

from postmill.api.asked import Asked, may
from postmill.api.backend import Backend
from postmill.api.cookies import COOKIE, drop_cookie, set_cookie
from postmill.api.problems import Problem, not_found, unauthorized
from postmill.bind import arun
from postmill.console.frame import headers, preferences, rendering, view_as
from postmill.console.frame.arguments import Arguments
from postmill.console.frame.cells import own
from postmill.console.frame.forms import check_token, read_form
from postmill.console.frame.scope import OPS, TENANT
from postmill.console.frame.words import _
from postmill.console.static_files import asset
from postmill.domain.access import Role
from postmill.domain.secret import hashed, new_secret
from postmill.store.access import close_login, open_login
from postmill.store.tenants import list_tenants

router = APIRouter(include_in_schema=False)


@router.get("/")
async def first(request: Request, asked: Annotated[Asked, Depends(may(None))]) -> Response:
    """The page where somebody belongs: Now for the platform's people, the tenant's overview for its own."""
    root = request.scope.get("root_path", "")
    if asked.principal.role is Role.WORKER:
        raise not_found("page")
    slug = view_as.viewed(request) if view_as.may_view(asked.principal) else None
    known = [] if slug is None else await asked.run(list_tenants(slug=slug, most=1, schema=asked.schema))
    if slug is not None and known:
        return headers.secure(RedirectResponse(f"{root}{TENANT.format(slug=slug)}", 303), secret=True)
    if asked.principal.platform:
        return headers.secure(RedirectResponse(f"{root}{OPS}", 303), secret=True)
    [tenant] = await asked.run(list_tenants(id=asked.principal.tenant_id, most=1, schema=asked.schema))
    return headers.secure(RedirectResponse(f"{root}{TENANT.format(slug=tenant.slug)}", 303), secret=True)


@router.get("/login")
async def show_login(request: Request) -> Response:
    """Follow a login link (`?token=`, which holds once), or show the form for a link's token or an API key."""
    args = Arguments.parsed(request.url.query)
    token, next = args.text("token"), args.text("next")
    if not token:
        return _form(request, next)
    try:
        return await _opened(request, token, next)
    except Problem as problem:
        if problem.status != 401 or "text/html" not in request.headers.get("accept", ""):
            raise
        return _form(
            request, next, _("This link was used, is over, or never was; postmill login prints a new one.")
        )


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Exchange what was typed in for a login."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    own = f"{request.url.scheme}://{request.url.netloc}"
    if site not in (None, "same-origin", "none") or (site is None and origin not in (None, own)):
        raise Problem(403, "cross-site", "the login's form must come from our own page")
    form = await read_form(request)
    try:
        return await _opened(request, form.text("token"), form.text("next"))
    except Problem as problem:
        if problem.status != 401:
            raise
        return _form(
            request,
            form.text("next"),
            _(
                "That key or token opens nothing: it was used, is over, never was, or its tenant is suspended."
            ),
        )


@router.post("/logout")
async def log_out(request: Request, asked: Annotated[Asked, Depends(may(None))]) -> Response:
    """End this login."""
    check_token(request, await read_form(request))
    answer = RedirectResponse(f"{request.scope.get('root_path', '')}/login", 303)
    cookie = request.cookies.get(COOKIE)
    if cookie is not None and getattr(request.state, "login", None) is not None:
        async with asked.backend.pool.connection() as conn:
            await arun(conn, close_login(hashed(cookie), asked.request_id, schema=asked.schema))
        request.app.state.live.look_again(asked.principal.tenant_id)
        drop_cookie(answer, request)
    view_as.end(answer, request)
    return headers.secure(answer, secret=True)


async def _opened(request: Request, token: str, next: str) -> Response:
    backend: Backend = request.app.state.backend
    cookie, seconds = new_secret(), backend.settings.server.session
    statement = open_login(
        hashed(token), cookie.hash, seconds, request.state.request_id, schema=backend.schema
    )
    async with backend.pool.connection() as conn:
        login = await arun(conn, statement)
    if login is None:
        raise unauthorized("this link was used, is over, or never was; postmill login prints a new one")
    answer = RedirectResponse(f"{request.scope.get('root_path', '')}{_inside(next)}", 303)
    set_cookie(answer, request, cookie.clear, seconds)
    # What carries a secret in its address is neither kept nor told to others.
    answer.headers["Referrer-Policy"] = "no-referrer"
    return headers.secure(answer, secret=True)


def _form(request: Request, next: str, fault: str | None = None) -> Response:
    root = request.scope.get("root_path", "")
    return rendering.bare("login.html", 200 if fault is None else 401, {
        "fault": fault, "cell": own(request.app.state.backend.settings), "next": _inside(next), "action": f"{root}/login",
        "asset": lambda name: f"{root}{asset(name)}", "prefers": preferences.read(request),
    })  # fmt: skip


def _inside(path: str) -> str:
    """A path of ours, never another site's: `//evil` and `/\\evil` are addresses of hosts to browsers."""
    fine = path.startswith(("/ops", "/t/")) and path.isascii() and path.isprintable() and "\\" not in path
    return path if fine else "/"
