"""What is told of AI tagging: events of the job's span, and metrics on the worker's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from opentelemetry import trace

from postmill.metrics import counter, gauge

items = counter("ai.tagging.items.total", "Items that were asked about.", labels=("status",))
tokens = counter("ai.tagging.tokens.total", "Tokens that were used.", labels=("type",))
cost = counter("ai.tagging.cost.cents", "Estimated cost, in cents.")
throttles = counter("ai.tagging.budget.throttles", "Runs that the budget has kept back or ended.")
percent_used = gauge("ai.budget.percent_used", "Share of this month's budget that is used.")

Value = str | int | float | Sequence[str]


def event(name: str, attributes: Mapping[str, Value]) -> None:
    """An event of the span of the job that runs."""
    trace.get_current_span().add_event(name, attributes)


def booked(dollars: Decimal, tokens_in: int = 0, tokens_out: int = 0) -> None:
    """Count what one question has cost."""
    cost.labels().inc(float(dollars * 100))
    tokens.labels(type="input").inc(tokens_in)
    tokens.labels(type="output").inc(tokens_out)
