"""The live parts that one tab asks for, for the same person's other tabs of that page.

One ping makes all of them ask for the same. The first of them reads and draws; who asks meanwhile, or within a second, is told
the same: only while this process hears of changes, and only if it has heard of none since that reading began.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from time import monotonic

from starlette.responses import Response

from postmill.console.frame.parts import Parts

SECONDS = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    """One that goes on, or has ended. `told`: what it found; the fault for which all give up; None: it is its reader's only."""

    began: float
    told: asyncio.Future[Parts | Exception | None]


class SharedParts:
    """Those of one process. `unchanged(moment)`: whether nothing was heard of since this moment of the monotonic clock."""

    def __init__(self, unchanged: Callable[[float], bool]) -> None:
        self._unchanged = unchanged
        self._readings: dict[Hashable, _Reading] = {}

    async def read(self, key: Hashable, read: Callable[[], Awaitable[Response]]) -> Response:
        """What `read` finds, which another tab may have found.

        Args:
            key: what two must have alike to be told the same.

        Raises:
            Exception: what `read` raises, here or for who began.
        """
        found = self._readings.get(key)
        if found is not None and self._holds(found):
            told = await asyncio.shield(found.told)  # who stops waiting must not stop the others
            if isinstance(told, Exception):
                raise told
            return await read() if told is None else told
        loop = asyncio.get_running_loop()
        mine = self._readings[key] = _Reading(monotonic(), loop.create_future())
        outcome: Parts | Exception | None = None
        try:
            answer = await read()
            if isinstance(answer, Parts) and not answer.secret:
                outcome = answer
            return answer
        except Exception as fault:
            outcome = fault
            raise
        finally:
            mine.told.set_result(outcome)
            if isinstance(outcome, Parts) and outcome.whole:
                loop.call_later(SECONDS, self._forget, key, mine)
            else:
                self._forget(key, mine)

    def over(self) -> None:
        """Somebody has done something: everything is read anew."""
        self._readings.clear()

    def _forget(self, key: Hashable, reading: _Reading) -> None:
        if self._readings.get(key) is reading:
            del self._readings[key]

    def _holds(self, reading: _Reading) -> bool:
        recent = not reading.told.done() or monotonic() - reading.began < SECONDS
        return recent and self._unchanged(reading.began)
