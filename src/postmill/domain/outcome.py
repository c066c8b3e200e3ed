"""What an attempt decided: one pure function from an error (or none) to an outcome."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from postmill.domain import signals
from postmill.domain.classify import ErrorVerdict, classify
from postmill.domain.error_facts import leaves
from postmill.domain.error_record import ErrorRecord
from postmill.domain.errors import Undecodable
from postmill.domain.retry import DEFAULT, MAX_DELAY, Curve, Random, RetryPolicy, base_of, delay_of
from postmill.domain.text import clean

OnExhausted = Literal["dead_letter", "fail"]

PERMANENT_ERROR = "permanent_error"
MAX_RETRIES_EXCEEDED = "max_retries_exceeded"
WORKER_LOST = "worker_lost"
UNDECODABLE = "undecodable"
EXPIRED = "expired"
BUDGET_EXHAUSTED = "budget_exhausted"
BURY_REASONS = frozenset(
    {PERMANENT_ERROR, MAX_RETRIES_EXCEEDED, WORKER_LOST, UNDECODABLE, EXPIRED, BUDGET_EXHAUSTED}
)
"""The reasons that the platform itself gives; a handler's `Bury(reason)` may bring its own."""

REASON_BYTES = 1024
"""A handler's own reason is kept up to 1 KiB."""


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The handler returned; `result` is what it returned."""

    result: object = None


@dataclass(frozen=True, slots=True)
class Retrying:
    """Run again in `delay` seconds. `fallback` says why the policy's own answer could not be used, if so."""

    delay: float
    error: ErrorRecord
    fallback: str | None = None


@dataclass(frozen=True, slots=True)
class Snoozed:
    """Run again in `delay` seconds; no attempt is used up."""

    delay: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Deferred:
    """A budget lets nothing run now: the job ends as succeeded with nothing done."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Canceled:
    """The handler ended the job, or stopped at a checkpoint after a cancel request."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """The job is over, without a dead letter."""

    reason: str
    error: ErrorRecord


@dataclass(frozen=True, slots=True)
class Buried:
    """The job goes to the dead letters."""

    reason: str
    error: ErrorRecord


Outcome = Succeeded | Retrying | Snoozed | Deferred | Canceled | Failed | Buried


def decide(
    error: BaseException | None,
    result: object = None,
    *,
    attempt: int,
    max_attempts: int | None,
    policy: RetryPolicy | Curve = DEFAULT,
    verdict: ErrorVerdict | None = None,
    on_exhausted: OnExhausted = "dead_letter",
    rng: Random,
    now: datetime | None = None,
) -> Outcome:
    """The outcome of attempt number `attempt` (from 1). Never raises.

    `max_attempts=None` is without limit. Without a `verdict` the error is classified by the built-in rules,
    with `now` for dates in Retry-After. A server's Retry-After wins over the curve, within [the policy's
    base, 24 h].
    """
    if error is None:
        return Succeeded(result)
    decisive = _decisive(error)
    match decisive:
        case signals.Snooze():
            return Snoozed(decisive.after, _storable(decisive.reason))
        case signals.BudgetDeferred():
            return Deferred(_storable(decisive.reason))
        case signals.Cancel() | signals.Canceled():
            return Canceled(_storable(decisive.reason))
    if verdict is None or isinstance(decisive, signals.Signal):
        verdict = classify(decisive, now=now)
    record = ErrorRecord.of(decisive, verdict)
    match decisive:
        case signals.Bury():
            return Buried(_storable(decisive.reason) or PERMANENT_ERROR, record)
        case signals.Fail():
            return Failed(_storable(decisive.reason) or PERMANENT_ERROR, record)
        case signals.BudgetExhausted():
            return _give_up(BUDGET_EXHAUSTED, record, on_exhausted)
        case Undecodable():
            return Buried(UNDECODABLE, record)
    asked = isinstance(decisive, signals.Retry)
    if not asked and not verdict.retryable:
        return _give_up(PERMANENT_ERROR, record, on_exhausted)
    if max_attempts is not None and attempt >= max_attempts:
        return _give_up(MAX_RETRIES_EXCEEDED, record, on_exhausted)
    if isinstance(decisive, signals.Retry) and decisive.after is not None:
        return Retrying(min(decisive.after, MAX_DELAY), record)
    if verdict.retry_after is not None:
        base = base_of(policy, error=decisive, error_class=verdict.error_class)
        return Retrying(max(verdict.retry_after, base), record)
    delay = delay_of(policy, attempt, rng=rng, error=decisive, error_class=verdict.error_class)
    return Retrying(delay.seconds, record, delay.fallback)


def _decisive(error: BaseException) -> BaseException:
    """In a group of exceptions (a TaskGroup's) a signal decides for all; a group of one is that one."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    inside = list(leaves(error))
    signal = next((leaf for leaf in inside if isinstance(leaf, signals.Signal | signals.Canceled)), None)
    return signal or (inside[0] if len(inside) == 1 else error)


def _storable(reason: str) -> str:
    return clean(reason, REASON_BYTES)


def _give_up(reason: str, record: ErrorRecord, on_exhausted: OnExhausted) -> Outcome:
    return Failed(reason, record) if on_exhausted == "fail" else Buried(reason, record)
