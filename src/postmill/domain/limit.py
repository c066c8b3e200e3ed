"""How often something may start."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from postmill.domain.duration import seconds


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `count` starts per `per` (seconds or timedelta), of which `burst` may come at once.

    `burst` defaults to `count`. Exact over the whole fleet (GCRA). ValueError for anything that is not
    positive.
    """

    count: int
    per: float | timedelta
    burst: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "per", seconds(self.per, "Rate(per=…)", zero=False))
        for name, value in (("count", self.count), ("burst", self.burst)):
            if name == "burst" and value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"Rate({name}=…) must be a whole number of 1 or more, not {value!r}")

    @property
    def seconds(self) -> float:
        """`per` in seconds."""
        return seconds(self.per)

    @property
    def interval(self) -> float:
        """Seconds between two starts at the steady rate."""
        return self.seconds / self.count

    @property
    def capacity(self) -> int:
        """How many may start at once after a pause."""
        return self.count if self.burst is None else self.burst
