"""Problems as pages: what was wanted, what came, what to do; and the way to the login for who has none."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlencode

import psycopg
from fastapi import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from postmill.api.asked import Asked
from postmill.api.problems import Problem
from postmill.api.root_path import own_path
from postmill.api.routing import PREFIX
from postmill.console.frame import headers, preferences, rendering
from postmill.console.frame.arguments import Arguments
from postmill.console.frame.scope import entered, own_slug
from postmill.console.frame.view_as import viewed
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.static_files import asset

_SLUG = re.compile(r"/t/([^/]+)")


async def face_of(request: Request, problem: Problem) -> Response | None:
    """The page for a problem, for a request of a browser for a page; None for all others.

    Whoever is known sees it within the frame of all pages: a wrong address is no dead end.
    """
    path = own_path(request.scope)
    if path.startswith(f"{PREFIX}/") or "text/html" not in request.headers.get("accept", ""):
        return None
    root = str(request.scope.get("root_path", ""))
    if "_part" in request.query_params:
        # Never a whole page within a page: the script that asked goes to the login, or notes the fault.
        answer: Response = PlainTextResponse(str(problem.detail), problem.status)
    elif problem.status == 401 and request.method in ("GET", "HEAD"):
        query = request.url.query
        wanted = f"{path}?{query}" if query else path
        to = f"{root}/login" if path in ("/", "/login") else f"{root}/login?{urlencode({'next': wanted})}"
        answer = RedirectResponse(to, 303)
    else:
        said = {
            "detail": _detail(problem, path),
            "problem": problem,
            "title": _title(problem),
            "again": path if problem.status == 503 and request.method in ("GET", "HEAD") else None,
            "request_id": getattr(request.state, "request_id", None),
            "home": f"{root}/",
            "root_path": root,
        }
        visit = await _visit(request, path) if problem.status < 500 else None
        if visit is not None:
            answer = visit.page("problem.html", problem.status, secret=True, **said)
        else:
            answer = rendering.bare("problem.html", problem.status, said | {
                "visit": None,
                "asset": lambda name: f"{root}{asset(name)}",
                "prefers": preferences.read(request),
            })  # fmt: skip
    return headers.secure(answer, secret=True)


async def _visit(request: Request, path: str) -> Visit | None:
    """The visit that it ended, or one of the scope of its path, or of one's own; None: nobody is known, or it cannot be told."""
    principal = getattr(request.state, "principal", None)
    made: Visit | None = getattr(request.state, "visit", None)
    if made is not None or principal is None:
        return made
    outside = Asked(principal, request.state.request_id, request.app.state.backend)
    slug = found[1] if (found := _SLUG.match(unquote(path))) else None
    try:
        for one in (slug, await own_slug(outside)):
            try:
                scope, asked = await entered(outside, one, viewed(request))
            except Problem:
                continue
            return Visit(request, asked, scope, Arguments(), Arguments(), preferences.read(request))
    except psycopg.Error:
        pass
    return None


def _detail(problem: Problem, path: str) -> str:
    words = {
        "tenant-moving": _(
            "It is being carried to another cell, which takes a few seconds. Nothing was done, and nothing is lost: try again."
        ),
        "tenant-moved": _("It lives in another cell now: log in there. Nothing was done here."),
    }
    if problem.detail == "Not Found":
        return _("There is no page %s.") % path[:200]
    return words.get(problem.kind) or str(problem.detail)


def _title(problem: Problem) -> str:
    if problem.kind in ("tenant-moving", "tenant-moved"):
        return _("This tenant is moving") if problem.kind == "tenant-moving" else _("This tenant has moved")
    titles = {
        401: _("Log in first"),
        403: _("Not allowed"),
        404: _("Nothing here"),
        409: _("Not in this state"),
        413: _("Too large"),
        422: _("That cannot be"),
        429: _("Too many requests"),
        503: _("The database does not answer"),
    }
    return titles.get(problem.status, _("Something went wrong"))
