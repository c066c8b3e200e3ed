"""The delay before the next attempt. Never raises, never overflows: that would lose the job (case 45)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from postmill.domain.curves import (
    ENRICHMENT,
    HOMEPAGE,
    PLANNER,
    PLANNER_CATEGORIES,
    PLANNER_EXPORTS,
    PLANNER_NOTIFICATIONS,
    PLANNER_PLANNING,
    YELLOWBOOK,
    Curve,
)
from postmill.domain.duration import seconds
from postmill.domain.error_names import class_names
from postmill.domain.policy import (
    DEFAULT,
    ByErrorClass,
    Constant,
    CustomPolicy,
    Exponential,
    Jitter,
    RetryPolicy,
    Steps,
)
from postmill.domain.policy_json import from_json, to_json

__all__ = [
    "DEFAULT",
    "ENRICHMENT",
    "HOMEPAGE",
    "MAX_DELAY",
    "PLANNER",
    "PLANNER_CATEGORIES",
    "PLANNER_EXPORTS",
    "PLANNER_NOTIFICATIONS",
    "PLANNER_PLANNING",
    "YELLOWBOOK",
    "ByErrorClass",
    "Constant",
    "Curve",
    "CustomPolicy",
    "Delay",
    "Exponential",
    "Random",
    "RetryPolicy",
    "Steps",
    "base_of",
    "bounds_of",
    "delay_of",
    "from_json",
    "to_json",
]

MAX_DELAY = 30 * 86400.0
"""No retry waits longer than 30 days, whatever its policy says."""


class Random(Protocol):
    """What is needed of a random source: `random.Random` or the `random` module."""

    def random(self) -> float:
        """A number in [0, 1)."""
        ...


@dataclass(frozen=True, slots=True)
class Delay:
    """Seconds to wait, in [0, 30 days]; `fallback` says why the default policy stepped in, if it did."""

    seconds: float
    fallback: str | None = None


def delay_of(
    policy: RetryPolicy | Curve,
    attempt: int,
    *,
    rng: Random,
    error: BaseException | None = None,
    error_class: str | None = None,
) -> Delay:
    """The wait after attempt number `attempt` (from 1) failed with `error` (or an error named `error_class`).

    `rng` draws the jitter; `.seconds` of the answer is the wait, in [0, 30 days].
    A function as policy that raises, or returns anything but a usable length of time, is replaced by the
    default policy for this once, and the answer says why.
    """
    policy = _resolve(policy, error, error_class)
    if isinstance(policy, Exponential | Steps | Constant):
        return Delay(_draw(policy, attempt, rng))
    try:
        answer = policy(attempt, error if error is not None else RuntimeError(error_class or "unknown error"))
        return Delay(min(seconds(answer, "the retry policy's answer"), MAX_DELAY))
    except Exception as fault:
        return Delay(_draw(DEFAULT, attempt, rng), f"retry policy failed: {_describe(fault)}")


def base_of(
    policy: RetryPolicy | Curve, *, error: BaseException | None = None, error_class: str | None = None
) -> float:
    """The least wait in seconds that the policy intends: what a server's `Retry-After: 0` is raised to."""
    policy = _resolve(policy, error, error_class)
    if isinstance(policy, Exponential | Steps | Constant):
        return _raw(policy, 1)[0]
    return 0.0


def bounds_of(
    policy: RetryPolicy | Curve, attempt: int, *, error_class: str | None = None
) -> tuple[float, float] | None:
    """The least and the most seconds to wait after attempt number `attempt` (from 1) failed; None: a function decides."""
    policy = _resolve(policy, None, error_class)
    return _bounds(policy, attempt) if isinstance(policy, Exponential | Steps | Constant) else None


def planned(policy: RetryPolicy | Curve, attempts: int, *, error_class: str | None = None) -> list[float]:
    """The waits in seconds, without jitter, before the second attempt and each after it up to `attempts`.

    Of a policy by class of error those for `error_class`, else its default's; of a function none are known.
    """
    policy = _resolve(policy, None, error_class)
    if not isinstance(policy, Exponential | Steps | Constant):
        return []
    return [_raw(policy, attempt)[0] for attempt in range(1, attempts)]


def _resolve(
    policy: RetryPolicy | Curve, error: BaseException | None, error_class: str | None
) -> Exponential | Steps | Constant | CustomPolicy:
    if isinstance(policy, Curve):
        policy = policy.policy
    while isinstance(policy, ByErrorClass):
        names = class_names(error, error_class)
        policy = next((policy.policies[name] for name in names if name in policy.policies), policy.default)
    return policy


def _raw(policy: Exponential | Steps | Constant, attempt: int) -> tuple[float, float, Jitter]:
    """The delay without jitter, its cap, and the jitter."""
    number = max(attempt, 1)
    if isinstance(policy, Constant):
        delay = min(seconds(policy.delay), MAX_DELAY)
        return delay, MAX_DELAY, policy.jitter
    if isinstance(policy, Steps):
        delay = min(seconds(policy.delays[min(number, len(policy.delays)) - 1]), MAX_DELAY)
        return delay, MAX_DELAY, policy.jitter
    cap = MAX_DELAY if policy.cap is None else min(seconds(policy.cap), MAX_DELAY)
    base = seconds(policy.base)
    try:
        delay = base * policy.factor ** (number - 1) if base else 0.0
    except OverflowError:
        # Only factors above 1 get here (below 1 the power fades to 0.0), so the curve is far beyond any cap.
        delay = cap if policy.factor > 1 else 0.0
    return min(delay, cap), cap, policy.jitter


def _draw(policy: Exponential | Steps | Constant, attempt: int, rng: Random) -> float:
    """Jitter spreads below the cap: cutting at the cap would send half of a herd at one instant."""
    least, most = _bounds(policy, attempt)
    return least + (most - least) * rng.random()


def _bounds(policy: Exponential | Steps | Constant, attempt: int) -> tuple[float, float]:
    delay, cap, (low, high) = _raw(policy, attempt)
    most = min(delay * high, cap)
    return min(delay * low, most), most


def _describe(fault: Exception) -> str:
    try:
        text = str(fault)
    except Exception:
        text = "(its message cannot be read)"
    return f"{type(fault).__name__}: {text[:200]}"
