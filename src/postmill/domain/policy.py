"""How long to wait before the next attempt: the shapes a retry policy can have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType

from postmill.domain.duration import seconds

Jitter = tuple[float, float]
"""The range of the random factor: (0.75, 1.25) means minus to plus a quarter; (1, 1) means none."""


@dataclass(frozen=True, slots=True)
class Exponential:
    """`base · factor^(attempt − 1)` seconds, never above `cap`, times a random factor from `jitter`.

    Defaults are seed 5's: 5 s, doubling, at most 5 min. `cap=None` leaves only the global bound of 30 days.
    The cap holds after the jitter too. ValueError for values that are no such curve.
    """

    base: float | timedelta = 5.0
    factor: float = 2.0
    cap: float | timedelta | None = 300.0
    jitter: Jitter = (0.75, 1.25)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", seconds(self.base, "Exponential(base=…)"))
        if self.cap is not None:
            object.__setattr__(self, "cap", seconds(self.cap, "Exponential(cap=…)"))
        if not _is_number(self.factor) or not 0 < self.factor <= 1e6:
            raise ValueError(
                f"Exponential(factor=…) must be more than 0 and at most 1e6, not {self.factor!r}"
            )
        object.__setattr__(self, "factor", float(self.factor))
        object.__setattr__(self, "jitter", check_jitter(self.jitter))


@dataclass(frozen=True, slots=True)
class Steps:
    """A written-out list: `delays[0]` after the first failed attempt, and so on; the last one repeats."""

    delays: Sequence[float | timedelta]
    jitter: Jitter = (1.0, 1.0)

    def __post_init__(self) -> None:
        if not isinstance(self.delays, list | tuple) or not self.delays:
            raise ValueError("Steps(delays) must be a list of at least one delay")
        delays = tuple(seconds(delay, f"Steps delay {n}") for n, delay in enumerate(self.delays, 1))
        object.__setattr__(self, "delays", delays)
        object.__setattr__(self, "jitter", check_jitter(self.jitter))


@dataclass(frozen=True, slots=True)
class Constant:
    """The same delay each time."""

    delay: float | timedelta
    jitter: Jitter = (1.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "delay", seconds(self.delay, "Constant(delay)"))
        object.__setattr__(self, "jitter", check_jitter(self.jitter))


@dataclass(frozen=True, slots=True)
class ByErrorClass:
    """Another policy per class of error, named as `TimeoutError` or `httpx.ConnectTimeout`; else `default`.

    A name also covers subclasses of the class that it names.
    """

    policies: Mapping[str, RetryPolicy]
    default: RetryPolicy = field(default_factory=Exponential)

    def __post_init__(self) -> None:
        for name, policy in self.policies.items():
            if not isinstance(name, str) or not name:
                raise ValueError(f"ByErrorClass takes names of error classes, not {name!r}")
            check_policy(policy)
        check_policy(self.default)
        object.__setattr__(self, "policies", MappingProxyType(dict(self.policies)))

    def __hash__(self) -> int:
        return hash((tuple(sorted(self.policies)), self.default))

    def __reduce__(self) -> tuple[object, ...]:
        return (ByErrorClass, (dict(self.policies), self.default))


CustomPolicy = Callable[[int, BaseException], float | timedelta]
"""A function of (number of the attempt that failed, its error); it returns seconds or a timedelta."""

RetryPolicy = Exponential | Steps | Constant | ByErrorClass | CustomPolicy


def check_policy(policy: object) -> RetryPolicy:
    """`policy` if it is one; TypeError otherwise."""
    if isinstance(policy, Exponential | Steps | Constant | ByErrorClass):
        return policy
    if callable(policy) and not isinstance(policy, type):
        return policy  # what it returns is checked each time that it is called
    raise TypeError(
        f"a retry policy is Exponential, Steps, Constant, ByErrorClass or a function, not {policy!r}"
    )


def check_jitter(jitter: object) -> Jitter:
    """`jitter` as two floats, low and high, 0 ≤ low ≤ high ≤ 10; ValueError otherwise."""
    if isinstance(jitter, tuple | list) and len(jitter) == 2 and all(map(_is_number, jitter)):
        low, high = float(jitter[0]), float(jitter[1])
        if 0 <= low <= high <= 10:
            return low, high
    raise ValueError(f"jitter is a pair (low, high) with 0 ≤ low ≤ high ≤ 10, not {jitter!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


DEFAULT = Exponential()
"""The policy of a job type that names none (seed 5)."""
