"""How long jobs take beside how long they usually do. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate

ENOUGH = 20
"""Jobs of a type that must have ended for its P95 to mean something."""

DRIFT = 1.005
"""By how much what is usual follows what is seen, with each look: what lasts becomes usual within minutes."""


def quantile(counts: Sequence[int], bounds: Sequence[float], share: float) -> float:
    """The length that this share of the jobs did not exceed, straight within a cell; the last bound for all beyond it."""
    sums = list(accumulate(counts))
    wanted = share * sums[-1]
    cell = bisect_left(sums, wanted)
    if cell >= len(bounds):
        return bounds[-1]
    low = bounds[cell - 1] if cell else 0.0
    before = sums[cell - 1] if cell else 0
    return low + (bounds[cell] - low) * (wanted - before) / max(1, counts[cell])


MOVED = 1.25
"""Cells are wide: a P95 that moved into the next one counts only where the mean grew so many times, too."""

Ended = tuple[Sequence[int], float]
"""Of one job type, since the beginning: how many ended by length, in the cells of the bounds; and the sum of lengths."""


class UsualLength:
    """Of the job types of one queue: P95 of what ended lately over the usual one, weighted by how many ended."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._seen: dict[str, Ended] = {}
        self._usual: dict[str, tuple[float, float]] = {}  # P95 and mean

    def look(self, ended: Mapping[str, Ended]) -> float | None:
        """How many times the usual P95 is, by job type as `Ended`; None: too few have ended since the last answer."""
        n, slower = 0, 0.0
        for name, (counts, total) in ended.items():
            before, sum_before = self._seen.get(name, ((), 0.0))
            fresh = [one - other for one, other in zip(counts, before, strict=True)] if before else []
            some = sum(fresh)
            if before and some < ENOUGH:
                continue
            self._seen[name] = list(counts), total
            if fresh:
                n += some
                p95, mean = quantile(fresh, self._bounds, 0.95), (total - sum_before) / some
                slower += some * self._slower(name, p95, mean)
        return slower / n if n else None

    def _slower(self, name: str, p95: float, mean: float) -> float:
        best_p95, best_mean = self._usual.get(name, (p95, mean))
        usual = min(p95, best_p95 * DRIFT), min(mean, best_mean * DRIFT)
        self._usual[name] = usual
        grown = mean / usual[1] if usual[1] > 0 else 1.0
        return min(grown, p95 / usual[0] if usual[0] > 0 else 1.0) if grown < MOVED else p95 / usual[0]
