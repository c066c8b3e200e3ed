"""What is measured of budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from postmill.telemetry.counters import Counters
from postmill.telemetry.families_jobs import TYPE_QUEUE
from postmill.telemetry.family import Family, Point
from postmill.telemetry.gauges import BudgetUse

_CENTS = 100.0


def dollars(counters: Counters) -> Iterator[Point]:
    """Units are found by name: USD or dollars, and cents; what is in another unit is no dollars."""
    for (job_type, unit), amount in list(counters.spent.items()):
        if unit.casefold() in ("usd", "dollar", "dollars"):
            yield (job_type,), amount
        elif unit.casefold() in ("cent", "cents", "usd cents"):
            yield (job_type,), amount / _CENTS


def _throttled(counters: Counters) -> Iterator[Point]:
    for one in counters.types():
        for action, n in one.throttled.items():
            if n:
                yield (one.job_type, one.queue, action), n


def _each(read: Callable[[BudgetUse], float]) -> Callable[[Counters], Iterator[Point]]:
    return lambda counters: (((use.budget, use.tenant), read(use)) for use in counters.gauges.budgets)


BUDGET_FAMILIES = (
    Family("postmill_budget_spent_total", "counter", "What this process booked in budgets, in their unit.",
           ("job_type", "unit"), lambda it: (pair for pair in list(it.spent.items()))),
    Family("postmill_budget_throttles_total", "counter", "Runs that a budget ended: defer or stop.",
           (*TYPE_QUEUE, "action"), _throttled),
    Family("postmill_budget_used_ratio", "gauge", "Share of the limit that is spent or reserved.",
           ("budget", "tenant"), _each(lambda use: use.ratio)),
    Family("postmill_budget_level", "gauge", "1 NORMAL, 2 REDUCE, 3 QUEUE, 4 HARD_STOP.",
           ("budget", "tenant"), _each(lambda use: use.level)),
    Family("postmill_budget_limit", "gauge", "Limit of the present period, in the budget's unit.",
           ("budget", "tenant"), _each(lambda use: use.limit)),
    Family("postmill_budget_spent", "gauge", "Spent in the present period, in the budget's unit.",
           ("budget", "tenant"), _each(lambda use: use.spent)),
    Family("postmill_budget_reserved", "gauge", "Held by running attempts, in the budget's unit.",
           ("budget", "tenant"), _each(lambda use: use.reserved)),
)  # fmt: skip
