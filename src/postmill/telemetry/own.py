"""Metrics of an application's own handlers, on the page of the process that runs them.

Dotted names as other libraries write them become Prometheus' (`rss.fetch.items.total` is `rss_fetch_items_total`). The
values of labels are bounded: of each label the first 100 are kept apart, all further ones count as `other`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Generic, TypeVar, cast

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram

from postmill.domain.text import clean
from postmill.telemetry.family import LABEL_BYTES
from postmill.telemetry.gauges import OTHER
from postmill.telemetry.histogram import DURATION_BOUNDS

M = TypeVar("M", bound=Counter | Gauge | Histogram)

MOST_VALUES = 100


class Bounded(Generic[M]):
    """A metric whose labels are bounded, as `counter`, `gauge` and `timer` make them. `metric` is prometheus_client's own."""

    def __init__(self, metric: M, labels: Sequence[str], most: int) -> None:
        self.metric = metric
        self._labels = tuple(labels)
        self._most = most
        self._seen: dict[str, set[str]] = {label: set() for label in labels}
        self._lock = threading.Lock()

    def labels(self, **values: object) -> M:
        """The metric with these values, one for each label.

        Raises:
            ValueError: a label is missing or unknown.
        """
        if values.keys() != set(self._labels):
            raise ValueError(
                f"labels are {', '.join(self._labels) or 'none'}, not {', '.join(values) or 'none'}"
            )
        if not values:
            return self.metric
        bounded = {label: self._bounded(label, str(values[label])) for label in self._labels}
        return cast(M, self.metric.labels(**bounded))

    def _bounded(self, label: str, value: str) -> str:
        value = clean(value, LABEL_BYTES)
        seen = self._seen[label]
        if value not in seen:
            with self._lock:
                if len(seen) >= self._most:
                    return OTHER
                seen.add(value)
        return value


def counter(
    name: str,
    help: str,
    labels: Sequence[str] = (),
    *,
    most: int = MOST_VALUES,
    registry: CollectorRegistry = REGISTRY,
) -> Bounded[Counter]:
    """Something that only grows: `.labels(…).inc()`.

    Args:
        name: dotted, or as Prometheus has it.
        help: what it counts, and in which unit; shown on the page.
        labels: their names; none: `.labels().inc()`.
        most: values of each label that are kept apart; all further ones are `other`.
        registry: prometheus_client's; default: the one of the worker's page.

    Raises:
        ValueError: nothing that Prometheus takes for a name comes of `name`, or there is such a metric already.
    """
    return Bounded(Counter(prometheus_name(name), help, labels, registry=registry), labels, most)


def gauge(
    name: str,
    help: str,
    labels: Sequence[str] = (),
    *,
    most: int = MOST_VALUES,
    registry: CollectorRegistry = REGISTRY,
) -> Bounded[Gauge]:
    """Something that goes up and down: `.labels(…).set(4.5)`. Arguments and errors are those of `counter`."""
    return Bounded(Gauge(prometheus_name(name), help, labels, registry=registry), labels, most)


def timer(
    name: str,
    help: str,
    labels: Sequence[str] = (),
    *,
    most: int = MOST_VALUES,
    registry: CollectorRegistry = REGISTRY,
) -> Bounded[Histogram]:
    """Lengths of time in seconds, in the cells of `jobs_duration_seconds`: `with of.labels(…).time(): …`, or `.observe(0.2)`.

    Arguments and errors are those of `counter`.
    """
    made = Histogram(prometheus_name(name), help, labels, buckets=DURATION_BOUNDS, registry=registry)
    return Bounded(made, labels, most)


def prometheus_name(name: str) -> str:
    """A dotted name in Prometheus' form.

    Raises:
        ValueError: nothing that Prometheus takes for a name comes of it.
    """
    made = re.sub(r"[.\-\s]+", "_", name)
    if not re.fullmatch(r"[a-zA-Z_:][a-zA-Z0-9_:]*", made):
        raise ValueError(
            f"{name!r} is no name of a metric: letters, digits, dots and underscores, a letter first"
        )
    return made
