"""One metric as a line of a table: its name to the letter, its kind, its help, and how to read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

from prometheus_client.metrics_core import Metric
from prometheus_client.samples import Sample

from postmill.domain.text import clean
from postmill.telemetry.counters import Counters
from postmill.telemetry.histogram import Histogram, summed

Kind = Literal["counter", "gauge", "histogram"]
Point = tuple[Sequence[str], float | Histogram]
"""Label values, in the order of the family's labels, and the value."""

LABEL_BYTES = 200


@dataclass(frozen=True, slots=True)
class Family:
    """A metric family. `read` gives its points at the scrape, none if there is nothing to show yet."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...]
    read: Callable[[Counters], Iterable[Point]]

    def empty(self) -> Metric:
        """The family without samples, for prometheus_client.

        Its writer appends `_total` to a counter's name and leaves a gauge's as it is. So a counter is named
        without it here, and a gauge may end in `_total`, as seed 1 wants it.
        """
        name = self.name.removesuffix("_total") if self.kind == "counter" else self.name
        return Metric(name, self.help, self.kind)

    def metric(self, counters: Counters) -> Metric:
        """The family with its present samples. Label values that become equal by being cleaned are summed up,
        for Prometheus refuses a page that has the same sample twice."""
        points: dict[tuple[str, ...], float | Histogram] = {}
        for values, value in self.read(counters):
            key = tuple(clean(str(text), LABEL_BYTES) for text in values)
            points[key] = _plus(points[key], value) if key in points else value
        metric = self.empty()
        for key, value in points.items():
            labels = dict(zip(self.labels, key, strict=True))
            if isinstance(value, Histogram):
                metric.samples.extend(_histogram_samples(self.name, labels, value))
            else:
                metric.samples.append(Sample(self.name, labels, value))
        return metric


def _plus(left: float | Histogram, right: float | Histogram) -> float | Histogram:
    if isinstance(left, Histogram) and isinstance(right, Histogram):
        return summed([left, right])
    assert not isinstance(left, Histogram)
    assert not isinstance(right, Histogram)
    return left + right


def _histogram_samples(name: str, labels: dict[str, str], histogram: Histogram) -> Iterable[Sample]:
    total = 0
    for bound, total in histogram.cumulative():
        le = "+Inf" if bound == inf else repr(bound)
        yield Sample(f"{name}_bucket", {**labels, "le": le}, total)
    yield Sample(f"{name}_count", labels, total)
    yield Sample(f"{name}_sum", labels, histogram.sum)
