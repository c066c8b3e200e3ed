"""Closed by default: nobody comes past here without credentials that hold, whatever the path, but for a short list."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from postmill.api.authentication import authenticate
from postmill.api.faults import meaning
from postmill.api.origins import Origins
from postmill.api.problems import Problem, answer
from postmill.api.root_path import own_path

OPEN: frozenset[tuple[str, str]] = frozenset(
    {
        ("GET", "/healthz"),
        ("GET", "/readyz"),
        ("POST", "/api/v1/session"),
    }
)
"""Methods and exact paths, as the router compares them, that need none."""

OPEN_BELOW: tuple[tuple[str, str], ...] = (("POST", "/api/v1/webhooks/"),)
"""Beginnings of such paths, one part before their end: an inbound webhook, whose signature is its credential."""


FAULT = "postmill.fault"
"""Key of a request's scope: what went wrong before it came here, to be answered as if it went wrong here."""


def is_open(method: str, path: str) -> bool:
    """Whether a request, or a route, needs no credentials."""
    return (method, path) in OPEN or any(
        method == known and path.startswith(begin) and "/" not in path[len(begin) :]
        for known, begin in OPEN_BELOW
    )


class Guard:
    """Authenticates every request before it is routed, so that no route can be forgotten.

    What a principal may is then asked by each route's own dependency, `may(action)`. `more` are further open paths, `below`
    beginnings of such, `allow_from` the networks that requests may come from, `known` what answers to whoever has it already
    (see `Face`).
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        more: frozenset[tuple[str, str]] = frozenset(),
        below: tuple[tuple[str, str], ...] = (),
        allow_from: tuple[str, ...] = (),
        known: Callable[[Request], Response | None] | None = None,
    ) -> None:
        self.app = app
        self._known = known
        self._origins = Origins(allow_from)
        self._more, self._below = more, below

    def _is_open(self, method: str, path: str) -> bool:
        return (
            (method, path) in self._more
            or is_open(method, path)
            or any(method == known and path.startswith(begin) for known, begin in self._below)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # There are none here; one that is not accepted is refused with 403.
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "http":
            request, path = Request(scope), own_path(scope)
            try:
                self._origins.check(request, path)
                if FAULT in scope:
                    raise scope[FAULT]
                if self._known is not None and (seen := self._known(request)) is not None:
                    await seen(scope, receive, send)
                    return
                if not self._is_open(scope["method"], path):
                    request.state.principal = await authenticate(request, scope["app"].state.backend)
            except Exception as error:
                # It stands outside of what turns errors into answers.
                problem = error if isinstance(error, Problem) else meaning(error)
                if problem is None:
                    raise
                await (await answer(request, problem))(scope, receive, send)
                return
        await self.app(scope, receive, send)
