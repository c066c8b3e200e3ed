"""Query parameters that a route does not know are refused, and text that no database can hold."""

from __future__ import annotations

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from postmill.api.problems import Problem
from postmill.domain.suggest import did_you_mean


def check_parameters(request: Request) -> None:
    """Raises Problem (422) for an unknown or doubled query parameter, and for NUL characters in query or path."""
    query, path = request.scope["query_string"], request.scope["path"]
    if "\0" in path or b"%00" in query or b"\0" in query:
        raise Problem(422, "invalid-request", "NUL characters cannot be stored, and so never be found")
    route = request.scope.get("route")
    if not query or not isinstance(route, APIRoute):
        return
    known = _names(route.dependant)
    seen: set[str] = set()
    for name, _ in request.query_params.multi_items():
        if name not in known:
            hint = did_you_mean(name, known, noun="parameters")
            raise Problem(422, "unknown-parameter", f"unknown query parameter {name[:100]!r}{hint}")
        if name in seen:
            raise Problem(422, "invalid-request", f"the query parameter {name!r} is given twice")
        seen.add(name)


def _names(dependant: Dependant) -> set[str]:
    own: set[str] = {field.alias for field in dependant.query_params}
    return own.union(*map(_names, dependant.dependencies))
