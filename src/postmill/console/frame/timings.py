"""How long the statements of pages took in this process, by their names: for the page of the system."""

from __future__ import annotations

from dataclasses import dataclass

MOST = 500
"""Names that are kept apart; statements are named by code, so there are fewer."""


@dataclass(slots=True)
class Timing:
    """Of one statement; lengths in seconds."""

    name: str
    n: int = 0
    seconds: float = 0.0
    longest: float = 0.0

    @property
    def average(self) -> float:
        """Seconds."""
        return self.seconds / self.n if self.n else 0.0


class Timings:
    """Those of one process, since it began."""

    def __init__(self) -> None:
        self._by_name: dict[str, Timing] = {}

    def note(self, name: str, seconds: float) -> None:
        """One execution, as its caller saw it."""
        one = self._by_name.get(name)
        if one is None:
            if len(self._by_name) >= MOST:
                return
            one = self._by_name[name] = Timing(name)
        one.n += 1
        one.seconds += seconds
        one.longest = max(one.longest, seconds)

    def slowest(self, most: int) -> list[Timing]:
        """Those that took longest at their worst."""
        return sorted(self._by_name.values(), key=lambda one: -one.longest)[:most]
