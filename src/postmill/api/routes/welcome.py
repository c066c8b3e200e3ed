"""Where a login link leads: a page that says who is logged in, and where things are."""

from __future__ import annotations

from html import escape
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse, Response

from postmill.api.asked import Asked, may
from postmill.api.routing import location
from postmill.store.tenants import list_tenants

PATH = "/"

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Postmill</title></head>
<body>
<h1>Postmill</h1>
<p>You are <strong>{actor}</strong>, {role} of {scope}.</p>
<ul>
<li><a href="{session}">Your session</a>: what you may, and until when</li>
<li><a href="{jobs}">Jobs</a>, as JSON</li>
<li><a href="{document}">The API</a>, as an OpenAPI document</li>
</ul>
</body>
</html>
"""

router = APIRouter(tags=["session"])


@router.get(PATH, include_in_schema=False, response_class=HTMLResponse)
async def show_welcome(request: Request, asked: Annotated[Asked, Depends(may(None))]) -> Response:
    """A page for people: who they are, and where to go."""
    principal = asked.principal
    scope = "the platform"
    if principal.tenant_id is not None:
        found = await asked.run(list_tenants(id=principal.tenant_id, most=1, schema=asked.schema))
        scope = f"tenant {found[0].slug}" if found else f"tenant {principal.tenant_id}"
    text = PAGE.format(
        actor=escape(principal.actor_id),
        role=escape(principal.role.replace("_", " ")),
        scope=escape(scope),
        session=escape(location(request, "/session")),
        jobs=escape(location(request, "/jobs")),
        document=escape(location(request, "/openapi.json")),
    )
    return HTMLResponse(text, headers=HEADERS)
