"""Routes are put together once for all applications of a process: that takes as long as a hundred requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fastapi import APIRouter
from starlette.routing import BaseRoute

from postmill.api.document import operation_id

_KNOWN: dict[tuple[int, str], tuple[APIRouter, list[BaseRoute]]] = {}
"""By identity: routers cannot be hashed. Each is kept, so that its identity stays its own."""


def included(routers: Iterable[APIRouter], prefix: str = "") -> Iterator[BaseRoute]:
    """What an application has of these routers. Nothing in it is of one application."""
    for router in routers:
        known = _KNOWN.get((id(router), prefix))
        if known is None:
            around = APIRouter(generate_unique_id_function=operation_id)
            around.include_router(router, prefix=prefix)
            known = _KNOWN.setdefault((id(router), prefix), (router, around.routes))
        yield from known[1]
