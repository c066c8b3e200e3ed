"""What pages read, read once for all who ask for the same at the same time.

Whoever sees the same scope with the same permissions is told the same: who asks while somebody's reading goes on waits for its
answer, and who asks within two seconds gets it, too (the round that sums up what jobs do tells of it every two); that only while
this process hears of changes, and has heard of none since the reading began. What `LASTING` names holds longer: until something
is heard of its own topics.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Hashable
from copy import copy
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar, cast

from psycopg.errors import QueryCanceled
from psycopg_pool import PoolTimeout

T = TypeVar("T")

SECONDS = 2.0
LONGER = 10.0

LASTING: dict[str, tuple[str, ...]] = {
    "list_incidents": ("incidents",),
    "read_all_clear": ("errors", "incidents", "operations"),
    "read_attainment": (),  # of a day: nobody sees what ten seconds change
    "read_changes": ("audit", "definitions", "workers"),
    "read_incident_scenes": ("incidents",),
}
"""Statements that hold for up to ten seconds, with the topics of which nothing may be heard meanwhile."""


@dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    """One that goes on, or has ended. `answer`: what it found; the error for which all give up; None: its reader left."""

    began: float
    topics: tuple[str, ...] | None
    scope: str
    answer: asyncio.Future[tuple[Any] | QueryCanceled | PoolTimeout | None]


class Readings:
    """Those of one process.

    Args:
        listening: whether changes are heard of.
        unchanged: whether they are, and none were since a moment of the monotonic clock.
        quiet: the same of some topics of a scope.
    """

    def __init__(
        self,
        listening: Callable[[], bool],
        unchanged: Callable[[float], bool],
        quiet: Callable[[Collection[str], str, float], bool],
    ) -> None:
        self._listening = listening
        self._unchanged = unchanged
        self._quiet = quiet
        self._readings: dict[Hashable, _Reading] = {}

    async def read(
        self, key: Hashable, read: Callable[[], Awaitable[T]], name: str = "", scope: str = ""
    ) -> T:
        """What `read` finds, which somebody else may have found.

        Args:
            key: what two must have alike to be told the same.
            name: of the statement; `scope`: whose topics it is of, `ops` or a tenant's id.

        Raises:
            QueryCanceled: it took too long, here or for who began.
            PoolTimeout: no connection came free, here or for who began; one after another would wait as long again.
        """
        while (found := self._readings.get(key)) is not None and self._holds(found):
            answer = await asyncio.shield(found.answer)  # who stops waiting must not stop the others
            if isinstance(answer, QueryCanceled | PoolTimeout):
                raise answer
            if answer is not None:
                return _copied(cast(T, answer[0]))
        loop = asyncio.get_running_loop()
        mine = self._readings[key] = _Reading(monotonic(), LASTING.get(name), scope, loop.create_future())
        told: tuple[Any] | QueryCanceled | PoolTimeout | None = None
        try:
            mine_found = await read()
            told = (mine_found,)
            return _copied(mine_found)
        except (QueryCanceled, PoolTimeout) as late:
            told = late
            raise
        finally:
            mine.answer.set_result(told)
            if self._readings.get(key) is mine:
                if isinstance(told, tuple) and self._holds(mine):
                    loop.call_later(_seconds(mine), self._forget, key, mine)
                else:
                    del self._readings[key]

    def over(self) -> None:
        """Somebody has done something: from now on everything is read anew."""
        self._readings.clear()

    def _forget(self, key: Hashable, reading: _Reading) -> None:
        if self._readings.get(key) is reading:
            del self._readings[key]

    def _holds(self, reading: _Reading) -> bool:
        if not reading.answer.done() and not self._listening():
            return True
        if reading.answer.done() and monotonic() - reading.began >= _seconds(reading):
            return False
        if reading.topics is None:
            return self._unchanged(reading.began)
        return self._quiet(reading.topics, reading.scope, reading.began)


def _seconds(reading: _Reading) -> float:
    return SECONDS if reading.topics is None else LONGER


def _copied(answer: T) -> T:
    """For one reader to sort and to take from."""
    return copy(answer) if type(answer) in (list, dict) else answer
