"""Query parameters that a route does not know are refused, and text that no database can hold."""

from __future__ import annotations

from typing import Any, get_args, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from postmill.api.problems import Problem
from postmill.domain.suggest import did_you_mean


def check_parameters(request: Request) -> None:
    """Raises Problem (422) for an unknown or doubled query parameter, and for NUL characters in query or path."""
    query, path = request.scope["query_string"], request.scope["path"]
    if "\0" in path or b"%00" in query or b"\0" in query:
        raise Problem(422, "unstorable", "NUL characters cannot be stored, and so never be found")
    route = request.scope.get("route")
    if not query or not isinstance(route, APIRoute):
        return
    known = _kinds(route.dependant)
    seen: set[str] = set()
    for name, _ in request.query_params.multi_items():
        if name not in known:
            hint = did_you_mean(name, known, noun="parameters")
            raise Problem(422, "unknown-parameter", f"unknown query parameter {name[:100]!r}{hint}")
        if name in seen and not _is_list(known[name]):
            raise Problem(422, "invalid-request", f"the query parameter {name!r} is given twice")
        seen.add(name)


def _kinds(dependant: Dependant) -> dict[str, Any]:
    found = {field.alias: field.field_info.annotation for field in dependant.query_params}
    for inner in dependant.dependencies:
        found |= _kinds(inner)
    return found


def _is_list(kind: Any) -> bool:
    return any(get_origin(one) is list for one in (kind, *get_args(kind)))
