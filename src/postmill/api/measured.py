"""What was measured a moment ago, for askers that come often: autoscalers, of many replicas."""

from __future__ import annotations

from time import monotonic
from typing import Generic, TypeVar

T = TypeVar("T")

FRESH = 1.0
"""Seconds for which an answer is given again."""

_MOST = 1000


class Measured(Generic[T]):
    """By key, for a second; `fresh` seconds otherwise."""

    def __init__(self, fresh: float = FRESH) -> None:
        self._fresh = fresh
        self._known: dict[object, tuple[float, T]] = {}

    def get(self, key: object) -> T | None:
        """What was put within the last second; None: nothing."""
        found = self._known.get(key)
        return found[1] if found is not None and monotonic() - found[0] < self._fresh else None

    def put(self, key: object, value: T) -> T:
        """Remember it."""
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[key] = monotonic(), value
        return value
