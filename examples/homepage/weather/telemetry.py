"""What is told of weather: metrics on the worker's page."""

from __future__ import annotations

from postmill.metrics import counter

places = counter(
    "weather.places.total",
    "Places that were asked for, by what of and what came of it.",
    labels=("kind", "provider", "status"),
)
