"""`/metrics`: a custom collector that reads the counters at the scrape and costs the hot path nothing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from postmill.telemetry.counters import Counters
from postmill.telemetry.families_budgets import BUDGET_FAMILIES
from postmill.telemetry.families_fleet import FLEET_FAMILIES
from postmill.telemetry.families_jobs import JOB_FAMILIES
from postmill.telemetry.families_seeds import SEED_1_FAMILIES, SEED_2_FAMILIES
from postmill.telemetry.family import Family

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

FAMILIES: tuple[Family, ...] = (
    *JOB_FAMILIES,
    *FLEET_FAMILIES,
    *BUDGET_FAMILIES,
    *SEED_2_FAMILIES,
    *SEED_1_FAMILIES,
)
"""Every metric, in the order of the page. Each is there from the first scrape, samples or not."""


class CountersCollector(Collector):
    """The counters of this process for prometheus_client; a registry of your own may hold it too."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters

    def describe(self) -> Iterable[Metric]:
        """The families without samples."""
        return [family.empty() for family in FAMILIES]

    def collect(self) -> Iterator[Metric]:
        """The families with their present samples."""
        return (family.metric(self._counters) for family in FAMILIES)


def render(counters: Counters, *more: Collector) -> bytes:
    """The page for a scrape, as Prometheus text 0.0.4 (`CONTENT_TYPE`). Any thread may call it.

    `more` are collectors whose metrics follow, such as `prometheus_client.REGISTRY` with those of handlers.
    """
    page = []
    for family in FAMILIES:
        page.append(family.text(counters))
        time.sleep(0)  # lets go of the interpreter's lock: a scrape delays no job by more than a family
    return "".join(page).encode() + b"".join(generate_latest(collector) for collector in more)
