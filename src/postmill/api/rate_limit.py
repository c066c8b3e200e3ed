"""Requests are bounded, for each who asks and in each process: a client that runs wild does not slow the others."""

from __future__ import annotations

from collections import OrderedDict
from math import ceil
from time import monotonic

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from postmill.api.problems import Problem, answer

MOST = 10_000
"""Buckets that are remembered; one that is forgotten was full again, or belonged to the idlest of so many."""


class Buckets:
    """A token bucket for each who asks: `rate` a second, and a second's worth at once."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._room = max(1.0, rate)
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, who: str) -> float:
        """Takes a token and answers 0, or takes none and answers the seconds until there is one."""
        now = monotonic()
        left, at = self._held.pop(who, (self._room, now))
        left = min(self._room, left + (now - at) * self._rate)
        missing = max(0.0, (1.0 - left) / self._rate)
        self._held[who] = (left if missing else left - 1.0, now)
        if len(self._held) > MOST:
            self._held.popitem(last=False)
        return missing


class RateLimit:
    """Answers 429 with Retry-After above the rate (`server.rate_per_key`); stands behind the guard, who knows who asks."""

    def __init__(self, app: ASGIApp, *, rate: float) -> None:
        self.app = app
        self._buckets = Buckets(rate)
        self._rate = rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        principal = scope.get("state", {}).get("principal")
        if principal is not None:
            missing = self._buckets.wait(principal.actor_id)
            if missing:
                problem = Problem(
                    429,
                    "too-many-requests",
                    f"more than {self._rate:g} requests a second; try again in {missing:.2f} s",
                    headers={"Retry-After": str(ceil(missing))},
                )
                return await (await answer(Request(scope), problem))(scope, receive, send)
        return await self.app(scope, receive, send)
