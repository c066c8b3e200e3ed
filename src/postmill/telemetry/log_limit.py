"""So many lines a second of one kind, and no more: ten thousand jobs that fail alike do not fill the disk."""

from __future__ import annotations

from collections.abc import Callable


class LineLimit:
    """Lets `per_second` lines of each kind through, and counts what it holds back."""

    __slots__ = ("_clock", "_per_second", "_windows")

    def __init__(self, per_second: int, clock: Callable[[], float]) -> None:
        self._per_second = per_second
        self._clock = clock
        self._windows: dict[str, _Window] = {}

    def admit(self, kind: str) -> int | None:
        """None if the line is to be held back, else how many of its kind were held back before it."""
        now = self._clock()
        window = self._windows.get(kind)
        if window is None:
            window = self._windows[kind] = _Window(now)
        if now - window.since >= 1.0:
            window.since, window.written = now, 0
        if window.written >= self._per_second:
            window.held += 1
            return None
        window.written += 1
        held, window.held = window.held, 0
        return held


class _Window:
    __slots__ = ("held", "since", "written")

    def __init__(self, since: float) -> None:
        self.since = since
        self.written = 0
        self.held = 0
