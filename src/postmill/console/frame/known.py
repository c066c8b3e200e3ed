"""Parts of pages that browsers have, and of whose topics nothing was heard since: who asks for one again is told so at once,
without the database, and before anything else is looked at.

It is the same browser that asks: with the same credentials, from the same address, for the same, by the tag that it was given.
That costs no more than a look: a part whose topics are quiet is not asked for more often than this anyway (`live-region.js`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from time import monotonic

from fastapi import Request
from starlette.responses import Response

from postmill.api.authentication import address_of
from postmill.console.frame import headers
from postmill.console.frame.parts import Parts, asked_for, asked_with, held

SECONDS = 10.0
"""After that times on the part have gone on, although nothing happened."""

MOST = 5000
"""Parts that are remembered at once."""


@dataclass(frozen=True, slots=True)
class _Answer:
    began: float
    topics: tuple[str, ...]
    scope: str


class Known:
    """Those of one process. `quiet(topics, scope, moment)`: whether nothing was heard of them since."""

    def __init__(self, quiet: Callable[[Collection[str], str, float], bool]) -> None:
        self._unheard = quiet
        self._answers: dict[Hashable, _Answer] = {}
        self._over_at = 0.0

    def answer(self, request: Request) -> Response | None:
        """304 for who has what there is; None: it must be seen."""
        tag = request.headers.get("if-none-match")
        if tag is None or request.scope["method"] != "GET":
            return None
        names = asked_for(request)
        if not names or len(self.quiet(request)) < len(names):
            return None
        return headers.secure(
            Response(status_code=304, headers={"ETag": tag, "Vary": "Accept-Encoding"}), secret=True
        )

    def quiet(self, request: Request) -> dict[str, str]:
        """The tags of the parts that it asks for, has, and need not be shown."""
        asking = _asking(request)
        return {
            name: tag
            for name, tag in held(request).items()
            if (found := self._answers.get((*asking, name, tag))) is not None and self._holds(found)
        }

    def keep(self, request: Request, answer: Parts, scope: str) -> None:
        """What was read for it, of a scope, and goes out to it."""
        if answer.secret or not answer.whole:
            return
        if len(self._answers) >= MOST:
            self._answers = {key: one for key, one in self._answers.items() if self._holds(one)}
        asking = _asking(request)
        for name, part in answer.parts.items():
            made = _Answer(answer.began, answer.topics.get(name, ()), scope)
            if part.tag and made.topics and len(self._answers) < MOST and self._holds(made):
                self._answers[*asking, name, part.tag] = made

    def over(self) -> None:
        """Somebody has done something, or may do less than before: everything is seen anew."""
        self._answers.clear()
        self._over_at = monotonic()

    def _holds(self, answer: _Answer) -> bool:
        recent = monotonic() - answer.began < SECONDS and answer.began > self._over_at
        return recent and self._unheard(answer.topics, answer.scope, answer.began)


def _asking(request: Request) -> tuple[object, ...]:
    scope, given = request.scope, request.headers
    return (
        address_of(request),
        scope["path"],
        asked_with(request),
        given.get("cookie"),
        given.get("authorization"),
    )
