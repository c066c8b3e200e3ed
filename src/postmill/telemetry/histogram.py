"""Histograms as plain lists of numbers: fixed bounds, one bisect per observation, the rest at the scrape."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

DURATION_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
                   120.0, 300.0, 600.0, 1800.0, 3600.0)  # fmt: skip
"""Seconds that a handler ran. The SLAs of seed 1 (30 s, 2 min, 5 min, 30 min) are bounds."""

LATENCY_BOUNDS = DURATION_BOUNDS
"""Seconds from ready to the handler's start."""

ATTEMPT_BOUNDS = (1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 50.0)
"""Attempts that a job took, up to the limits of all seeds and beyond."""


class Histogram:
    """Counts per bucket (`counts[i]` for values up to `bounds[i]`, the last for all beyond), and their sum.

    One thread writes; any thread may read a snapshot.
    """

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        """Count one value; a negative one (a clock stepped back) counts as nought."""
        self.counts[bisect_left(self.bounds, value)] += 1
        if value > 0:
            self.sum += value

    @property
    def total(self) -> int:
        """How many values were observed."""
        return sum(self.counts)

    def cumulative(self) -> list[tuple[float, int]]:
        """(upper bound, values up to it), the last bound infinite: what Prometheus calls `le` buckets."""
        return list(zip((*self.bounds, float("inf")), accumulate(list(self.counts)), strict=True))


def summed(histograms: Sequence[Histogram]) -> Histogram:
    """The sum of one or more histograms. Raises ValueError if their bounds differ or there is none."""
    if len({histogram.bounds for histogram in histograms}) != 1:
        raise ValueError("only histograms of the same bounds can be added")
    total = Histogram(histograms[0].bounds)
    total.counts = [sum(column) for column in zip(*(list(one.counts) for one in histograms), strict=True)]
    total.sum = sum(one.sum for one in histograms)
    return total
