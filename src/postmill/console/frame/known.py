"""Parts of pages that browsers have, and of whose topics nothing was heard since: who asks for one again is told so at once,
without the database, and before anything else is looked at.

It is the same browser that asks: with the same credentials, from the same address, for the same, by the tag that it was given.
That costs no more than a look: a part whose topics are quiet is not asked for more often than this anyway (`live-region.js`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic

from fastapi import Request
from jinja2 import Template
from starlette.responses import Response

from postmill.api.authentication import address_of
from postmill.console.frame import headers

SECONDS = 10.0
"""After that times on the part have gone on, although nothing happened."""

MOST = 5000
"""Parts that are remembered at once."""

_REGION = re.compile(r'data-live="(\w+)"[^>]* data-topic="([a-z ]+)"')


@dataclass(frozen=True, slots=True)
class _Answer:
    began: float
    topics: tuple[str, ...]
    scope: str


class Known:
    """Those of one process. `quiet(topics, scope, moment)`: whether nothing was heard of them since."""

    def __init__(self, quiet: Callable[[Collection[str], str, float], bool]) -> None:
        self._quiet = quiet
        self._answers: dict[Hashable, _Answer] = {}
        self._over_at = 0.0

    def answer(self, request: Request) -> Response | None:
        """304 for who has what there is; None: it must be seen."""
        tag = request.headers.get("if-none-match")
        if tag is None or request.scope["method"] != "GET":
            return None
        found = self._answers.get((*_asking(request), tag))
        if found is None or not self._holds(found):
            return None
        return headers.secure(Response(status_code=304, headers={"ETag": tag, "Vary": "Accept-Encoding"}))

    def keep(self, request: Request, tag: str, topics: tuple[str, ...], scope: str, began: float) -> None:
        """A part that was read at `began`, of these topics of a scope, and goes out by this tag."""
        made = _Answer(began, topics, scope)
        if not self._holds(made):
            return
        if len(self._answers) >= MOST:
            self._answers = {key: one for key, one in self._answers.items() if self._holds(one)}
        if len(self._answers) < MOST:
            self._answers[*_asking(request), tag] = made

    def over(self) -> None:
        """Somebody has done something, or may do less than before: everything is seen anew."""
        self._answers.clear()
        self._over_at = monotonic()

    def _holds(self, answer: _Answer) -> bool:
        recent = monotonic() - answer.began < SECONDS and answer.began > self._over_at
        return recent and self._quiet(answer.topics, answer.scope, answer.began)


@lru_cache(maxsize=200)
def topics_of(template: Template) -> dict[str, tuple[str, ...]]:
    """The topics of each live part of a page, as its template tells the browser."""
    loader = template.environment.loader
    assert loader is not None
    assert template.name is not None
    source, _, _ = loader.get_source(template.environment, template.name)
    return {part: tuple(topics.split()) for part, topics in _REGION.findall(source)}


def _asking(request: Request) -> tuple[object, ...]:
    scope, given = request.scope, request.headers
    return (
        address_of(request),
        scope["path"],
        scope["query_string"],
        given.get("cookie"),
        given.get("authorization"),
    )
