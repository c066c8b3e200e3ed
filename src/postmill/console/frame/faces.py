"""Problems as pages: what was wanted, what came, what to do; and the way to the login for who has none."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from postmill.api.problems import Problem
from postmill.api.root_path import own_path
from postmill.api.routing import PREFIX
from postmill.console.frame import headers, preferences, rendering
from postmill.console.frame.words import _
from postmill.console.static_files import asset


def face_of(request: Request, problem: Problem) -> Response | None:
    """The page for a problem, for a request of a browser for a page; None for all others."""
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
        answer = rendering.bare("problem.html", problem.status, {
            "problem": problem,
            "title": _title(problem),
            "request_id": getattr(request.state, "request_id", None),
            "home": f"{root}/",
            "asset": lambda name: f"{root}{asset(name)}",
            "prefers": preferences.read(request),
        })  # fmt: skip
    return headers.secure(answer, secret=True)


def _title(problem: Problem) -> str:
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
