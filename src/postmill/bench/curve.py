"""How many were done when: rates, and whether the end was as quick as the beginning."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


class Curve:
    """A growing count over time, from 0 at `began`. Moments in seconds of one clock."""

    def __init__(self, began: float) -> None:
        self.began = began
        self._times = [began]
        self._counts = [0]

    @classmethod
    def merged(cls, began: float, points: Sequence[Sequence[tuple[float, int]]]) -> Curve:
        """The sum of several processes' counts, each given as (moment, count) in order."""
        curve, counts = cls(began), [0] * len(points)
        for at, number, count in sorted(
            (at, n, count) for n, part in enumerate(points) for at, count in part
        ):
            counts[number] = count
            curve.add(at, sum(counts))
        return curve

    def add(self, at: float, count: int) -> None:
        """One look."""
        self._times.append(at)
        self._counts.append(count)

    @property
    def total(self) -> int:
        """The last count."""
        return self._counts[-1]

    def reached(self, count: int) -> float:
        """The moment at which `count` was reached, between two looks by proportion. ValueError: never."""
        for n, here in enumerate(self._counts):
            if here >= count:
                if n == 0:
                    return self._times[0]
                before = self._counts[n - 1]
                share = (count - before) / (here - before)
                return self._times[n - 1] + share * (self._times[n] - self._times[n - 1])
        raise ValueError(f"{count} was never reached")

    def seconds(self, count: int) -> float:
        """From the beginning until `count` was reached."""
        return self.reached(count) - self.began

    def rate(self, count: int) -> float:
        """Per second, from the beginning until `count` was reached."""
        return count / max(self.seconds(count), 1e-9)

    def tenths(self, count: int) -> list[float]:
        """The rate in each tenth of `count`."""
        marks = [self.reached(round(count * n / 10)) for n in range(11)]
        return [count / 10 / max(end - start, 1e-9) for start, end in pairwise(marks)]

    def flatness(self, count: int) -> float:
        """Rate of the last tenth ÷ rate of the first."""
        tenths = self.tenths(count)
        return tenths[-1] / tenths[0]


def percentiles(values: Sequence[float], unit: str = "ms") -> dict[str, float]:
    """`p50_ms`, `p90_ms`, `p99_ms` and `max_ms` of some values of that unit."""
    ordered = sorted(values)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 3)

    marks = {f"p{share}_{unit}": at(share / 100) for share in (50, 90, 99)}
    return {**marks, f"max_{unit}": round(ordered[-1], 3)}
