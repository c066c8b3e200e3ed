"""The header Allow of an answer 405: every method of the path (RFC 9110, section 10.2.1), not only of its first route."""

from __future__ import annotations

from fastapi import Request
from fastapi.routing import iter_route_contexts
from starlette.routing import compile_path

from postmill.api.root_path import own_path


def allowed(request: Request) -> str:
    """Methods that the path of a request has; of several paths that fit it, those of the most exact one."""
    path = own_path(request.scope)
    found: dict[str, set[str]] = {}
    for route in iter_route_contexts(request.app.routes):
        pattern, _, _ = compile_path(str(route.path))
        if pattern.match(path):
            found.setdefault(str(route.path), set()).update(route.methods or ())
    return ", ".join(sorted(found[max(found, key=len)])) if found else ""
