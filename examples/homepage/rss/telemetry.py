"""What is told of refreshes: events of the job's span, and metrics on the worker's page."""

from __future__ import annotations

from opentelemetry import trace

from postmill.metrics import counter, timer

MOST_SOURCES = 1000
"""Sources that are kept apart; the metrics count further ones as `other`."""

items = counter(
    "rss.fetch.items.total", "Feed items processed.", labels=("source_id", "status"), most=MOST_SOURCES
)
errors = counter(
    "rss.fetch.errors.total",
    "Fetches that failed, by type.",
    labels=("source_id", "error_type"),
    most=MOST_SOURCES,
)
duration = timer(
    "rss.fetch.duration", "Fetching and parsing a feed.", labels=("source_id", "result"), most=MOST_SOURCES
)


def event(name: str, attributes: dict[str, str | int] | None = None) -> None:
    """An event of the span of the job that runs."""
    trace.get_current_span().add_event(name, attributes)
