"""What is measured now and then: depths by the monitor's round, slots and limits when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

MAX_TENANTS = 100
"""Tenants shown apart by depth, the deepest first; the rest is summed as `other`."""

OTHER = "other"

STALE_AFTER = 180.0
"""Seconds after which a measurement is no longer shown: by then another worker measures."""


@dataclass(frozen=True, slots=True)
class Depth:
    """`count` jobs of a tenant in a queue are in this status."""

    queue: str
    tenant: str
    status: str
    count: int


@dataclass(frozen=True, slots=True)
class Usage:
    """How many of `size` slots (of a queue) or permits (of a job type's worker limit) this process uses."""

    size: int
    used: int

    @property
    def available(self) -> int:
        """How many are free."""
        return max(self.size - self.used, 0)


class Gauges:
    """The last measurements of this process.

    `slots` (by queue) and `limits` (by job type) are asked at the scrape, so that the engine keeps no gauge
    on the hot path: set them to functions that read its own numbers (from another thread).
    """

    __slots__ = ("_clock", "_depths", "_measured_at", "_oldest", "_types", "limits", "slots")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._measured_at: float | None = None
        self._depths: list[Depth] = []
        self._oldest: dict[str, float] = {}
        self._types: dict[str, int] = {}
        self.slots: Callable[[], Mapping[str, Usage]] = dict
        self.limits: Callable[[], Mapping[str, Usage]] = dict

    def measured(
        self,
        depths: Iterable[Depth],
        *,
        oldest: Mapping[str, float] | None = None,
        types: Mapping[str, int] | None = None,
    ) -> None:
        """Replace the whole measurement: depths, age in seconds of the oldest queued job by queue, and queued
        jobs by job type."""
        self._depths = _capped(depths)
        self._oldest = dict(oldest or {})
        self._types = dict(types or {})
        self._measured_at = self._clock()

    @property
    def fresh(self) -> bool:
        """Whether there is a measurement that is not stale."""
        return self._measured_at is not None and self._clock() - self._measured_at <= STALE_AFTER

    @property
    def depths(self) -> list[Depth]:
        """Depths by queue, tenant and status; none if stale."""
        return self._depths if self.fresh else []

    @property
    def oldest(self) -> dict[str, float]:
        """Age in seconds of the oldest queued job by queue; none if stale."""
        return self._oldest if self.fresh else {}

    @property
    def types(self) -> dict[str, int]:
        """Queued jobs by job type; none if stale."""
        return self._types if self.fresh else {}


def _capped(depths: Iterable[Depth]) -> list[Depth]:
    rows = list(depths)
    weight: dict[str, int] = {}
    for row in rows:
        weight[row.tenant] = weight.get(row.tenant, 0) + row.count
    shown = set(sorted(weight, key=lambda tenant: (-weight[tenant], tenant))[:MAX_TENANTS])
    sums: dict[tuple[str, str, str], int] = {}
    for row in rows:
        key = (row.queue, row.tenant if row.tenant in shown else OTHER, row.status)
        sums[key] = sums.get(key, 0) + row.count
    return [Depth(*key, count) for key, count in sums.items()]
