"""What is told of social networks: metrics on the worker's page."""

from __future__ import annotations

from postmill.metrics import counter

accounts = counter(
    "social.accounts.total", "Accounts that were refreshed, by what came of it.", labels=("outcome",)
)
