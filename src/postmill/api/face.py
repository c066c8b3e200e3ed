"""What an application shows to people beside the API: pages that come in by the same guard, with errors that are pages, too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import Response

from postmill.api.problems import Problem


@dataclass(frozen=True, slots=True)
class Face:
    """Pages, as whoever has some hands them to `create_app`.

    Attributes:
        routers: their routes, beside the API's prefix.
        open: methods and exact paths that need no credentials.
        open_below: methods and beginnings of such paths.
        problem_page: the page for a problem; None: this request gets the problem document after all.
        known: the answer that whoever asks has already; None: the request is served. It comes before authentication: it may
            tell only who was let in with the same credentials a moment ago, and only that nothing is new.
    """

    routers: tuple[APIRouter, ...]
    open: frozenset[tuple[str, str]]
    open_below: tuple[tuple[str, str], ...]
    problem_page: Callable[[Request, Problem], Awaitable[Response | None]]
    known: Callable[[Request], Response | None]
