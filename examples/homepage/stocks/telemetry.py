"""What is told of stocks: events of the job's span, and metrics on the worker's page."""

from __future__ import annotations

from postmill.metrics import counter, gauge

requests = counter(
    "stocks.requests.total", "Requests for quotes: quoted, limited, unknown or failed.", labels=("outcome",)
)
stale = gauge("stocks.stale", "Symbols whose quote is old or missing, at the end of the last run.")
fallbacks = counter(
    "stocks.fallbacks.total",
    "Runs that left quotes stale, by the reason why no more were asked for.",
    labels=("reason",),
)
