"""Pages of two processes, seen as one."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from postmill.telemetry.counters import Counters
from postmill.telemetry.metrics import render
from postmill.telemetry.pages import merged


def page(jobs: int, depth: int, seconds: float) -> bytes:
    registry = CollectorRegistry()
    Counter("jobs", "Jobs.", ["type"], registry=registry).labels('a "b" c').inc(jobs)
    Gauge("depth", "Depth.", registry=registry).set(depth)
    Histogram("took", "Seconds.", registry=registry, buckets=(1, 2)).observe(seconds)
    return generate_latest(registry)


def samples(text: bytes) -> dict[str, float]:
    found = [sample for family in text_string_to_metric_families(text.decode()) for sample in family.samples]
    named = {f"{one.name}{one.labels}": one.value for one in found if not one.name.endswith("_created")}
    assert len(found) == len({(one.name, str(one.labels)) for one in found}), "a sample stands there twice"
    return named


def test_what_counts_is_added_and_what_measures_is_not() -> None:
    seen = samples(merged(page(2, 7, 0.5), page(3, 9, 1.5) + b"# HELP own Own.\n# TYPE own gauge\nown 1\n"))
    assert seen["jobs_total{'type': 'a \"b\" c'}"] == 5
    assert seen["depth{}"] == 7
    assert (seen["took_count{}"], seen["took_sum{}"], seen["took_bucket{'le': '1.0'}"]) == (2, 2.0, 1)
    assert seen["own{}"] == 1


def test_of_one_page_nothing_is_changed() -> None:
    whole = render(Counters("w"))
    assert samples(merged(whole, b"")) == samples(merged(b"", whole)) == samples(whole)
    assert merged(b"", b"") == b""


def test_two_workers_pages_have_each_family_once() -> None:
    one, other = Counters("one"), Counters("other")
    for counters, n in ((one, 2), (other, 3)):
        counters.of("mail", "default").claimed += n
    seen = samples(merged(render(one), render(other)))
    assert seen["jobs_claimed_total{'job_type': 'mail', 'queue': 'default'}"] == 5
