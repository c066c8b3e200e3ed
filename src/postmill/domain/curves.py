"""The retry curves of the seeds, by name. Where a seed contradicts itself, its worked example is followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from postmill.domain.policy import Exponential, RetryPolicy, Steps


@dataclass(frozen=True, slots=True)
class Curve:
    """A policy together with the number of attempts that its seed gives a job."""

    policy: RetryPolicy
    max_attempts: int


HOMEPAGE = Curve(Exponential(base=30, factor=2, cap=None, jitter=(0.75, 1.25)), 5)
"""Seed 1, section 3: 30 s · 2^(attempt − 1) · [0.75, 1.25]; after attempt 1 that is 22.5 to 37.5 s."""

ENRICHMENT = Curve(Steps((30, 300)), 3)
"""Seed 2, phase 5: at once, 30 s after the first failure, 5 min after the second, then exhausted."""

YELLOWBOOK = Curve(Exponential(base=2, factor=2, cap=300, jitter=(0.8, 1.2)), 5)
"""Seed 4, section 3: 2 s doubling, at most 5 min, ±20 %."""

PLANNER = Curve(Exponential(base=5, factor=2, cap=300), 5)
"""Seed 5, the default: 5 s, at most 5 min, 5 attempts."""

PLANNER_NOTIFICATIONS = Curve(Exponential(base=5, factor=2, cap=1800), 10)
"""Seed 5, notifications: 10 attempts, at most 30 min."""

PLANNER_PLANNING = Curve(Exponential(base=5, factor=2, cap=120), 3)
"""Seed 5, planning: 3 attempts, at most 2 min."""

PLANNER_EXPORTS = Curve(Exponential(base=5, factor=2, cap=600), 5)
"""Seed 5, imports and exports: 5 attempts, at most 10 min."""

PLANNER_CATEGORIES: Mapping[str, Curve] = MappingProxyType(
    {
        "notifications": PLANNER_NOTIFICATIONS,
        "audit": PLANNER,
        "planning": PLANNER_PLANNING,
        "exports": PLANNER_EXPORTS,
        "imports": PLANNER_EXPORTS,
        "maintenance": PLANNER,
    }
)
"""Seed 5's job categories."""
