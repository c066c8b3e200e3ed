"""What pages read, read once for all who ask for the same at the same time.

Whoever sees the same scope with the same permissions is told the same: who asks while somebody's reading goes on waits for its
answer, and who asks within a second gets it, too; that only while this process hears of changes, and has heard of none since
the reading began.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from copy import copy
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar, cast

import psycopg

T = TypeVar("T")

SECONDS = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    """One that goes on, or has ended. `answer`: what it found; the error for which all give up; None: its reader left."""

    began: float
    answer: asyncio.Future[tuple[Any] | psycopg.errors.QueryCanceled | None]


class Readings:
    """Those of one process.

    Args:
        listening: whether changes are heard of.
        unchanged: whether they are, and none were since a moment of the monotonic clock.
    """

    def __init__(self, listening: Callable[[], bool], unchanged: Callable[[float], bool]) -> None:
        self._listening = listening
        self._unchanged = unchanged
        self._readings: dict[Hashable, _Reading] = {}

    async def read(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """What `read` finds, which somebody else may have found.

        Args:
            key: what two must have alike to be told the same.

        Raises:
            psycopg.errors.QueryCanceled: it took too long, here or for who began.
        """
        while (found := self._readings.get(key)) is not None and self._holds(found):
            answer = await asyncio.shield(found.answer)  # who stops waiting must not stop the others
            if isinstance(answer, psycopg.errors.QueryCanceled):
                raise answer
            if answer is not None:
                return _copied(cast(T, answer[0]))
        began = monotonic()
        mine = self._readings[key] = _Reading(began, asyncio.get_running_loop().create_future())
        told: tuple[Any] | psycopg.errors.QueryCanceled | None = None
        try:
            mine_found = await read()
            told = (mine_found,)
            return _copied(mine_found)
        except psycopg.errors.QueryCanceled as late:
            told = late
            raise
        finally:
            mine.answer.set_result(told)
            if self._readings.get(key) is mine:
                del self._readings[key]
                if isinstance(told, tuple) and self._unchanged(began):
                    self._keep(key, mine)

    def over(self) -> None:
        """Somebody has done something: from now on everything is read anew."""
        self._readings.clear()

    def _keep(self, key: Hashable, reading: _Reading) -> None:
        """As the last one; those before it that are too old are forgotten, so that nothing stays for long."""
        self._readings[key] = reading
        while (oldest := next(iter(self._readings))) != key:
            one = self._readings[oldest]
            if not one.answer.done() or monotonic() - one.began < SECONDS:
                break
            del self._readings[oldest]

    def _holds(self, reading: _Reading) -> bool:
        if reading.answer.done():
            return monotonic() - reading.began < SECONDS and self._unchanged(reading.began)
        return not self._listening() or self._unchanged(reading.began)


def _copied(answer: T) -> T:
    """For one reader to sort and to take from."""
    return copy(answer) if type(answer) in (list, dict) else answer
