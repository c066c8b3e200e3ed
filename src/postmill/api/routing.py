"""The routes' own class: strict JSON, and requests that may be sent twice."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from postmill.api.json_body import JsonRequest
from postmill.api.once import HEADER, once

PREFIX = "/api/v1"
"""What every path of the API begins with."""

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Route(APIRoute):
    """A route whose body is read by `JsonRequest` and whose unsafe methods honour Idempotency-Key."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler around FastAPI's own."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            strict = JsonRequest(request.scope, request.receive)
            if strict.method not in SAFE and HEADER in strict.headers and hasattr(strict.state, "principal"):
                return await once(strict, strict.headers[HEADER], handle)
            return await handle(strict)

        return handled


def new_router(*tags: str) -> APIRouter:
    """A router for routes of the API, under these tags."""
    return APIRouter(tags=[*tags], route_class=Route)


def location(request: Request, path: str) -> str:
    """The path of something in the API, as the client of this request must ask for it."""
    return f"{request.scope.get('root_path', '')}{PREFIX}{path}"
