from __future__ import annotations

from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from postmill.telemetry.counters import Counters
from postmill.telemetry.gauges import Depth, Usage
from postmill.telemetry.metrics import FAMILIES, CountersCollector, render

NAMES = {
    # seed 5
    "jobs_enqueued_total": "counter",
    "jobs_started_total": "counter",
    "jobs_succeeded_total": "counter",
    "jobs_failed_total": "counter",
    "jobs_duration_seconds": "histogram",
    "jobs_attempts_histogram": "histogram",
    "deadletter_total": "counter",
    # seed 2
    "job_queue_depth": "gauge",
    "job_claimed_total": "counter",
    "job_completed_total": "counter",
    "job_processing_seconds": "histogram",
    "job_notification_received_total": "counter",
    "job_poll_scanned_total": "counter",
    # seed 1
    "job_execution_duration_seconds": "histogram",
    "job_queue_backlog_total": "gauge",
    "job_retry_total": "counter",
    "screenshot_concurrency_utilization": "gauge",
    "job_budget_consumed_dollars": "counter",
    # ours
    "jobs_queue_latency_seconds": "histogram",
    "postmill_wakeups_total": "counter",
    "postmill_lease_renewals_total": "counter",
}
LABELS = {
    "jobs_enqueued_total": {"job_type", "queue"},
    "jobs_started_total": {"job_type", "queue"},
    "jobs_succeeded_total": {"job_type", "queue"},
    "jobs_failed_total": {"job_type", "queue", "error_class"},
    "jobs_duration_seconds_count": {"job_type", "queue"},
    "jobs_attempts_histogram_count": {"job_type"},
    "deadletter_total": {"job_type", "queue"},
    "job_queue_depth": {"job_type"},
    "job_claimed_total": {"job_type", "worker_id"},
    "job_completed_total": {"job_type", "status"},
    "job_processing_seconds_count": {"job_type"},
    "job_notification_received_total": {"channel"},
    "job_poll_scanned_total": set(),
    "job_execution_duration_seconds_count": {"job_type", "queue", "status"},
    "job_queue_backlog_total": {"queue"},
    "job_retry_total": {"job_type", "queue"},
    "screenshot_concurrency_utilization": set(),
    "job_budget_consumed_dollars_total": {"job_type"},  # so this parser calls a counter
    "deadletter_open": {"queue"},
    "jobs_queue_depth": {"queue", "tenant", "status"},
}


def worked() -> Counters:
    """A worker that has seen everything once."""
    counters = Counters("host:1:boot")
    enrich = counters.of("enrich", "q:default")
    enrich.claimed, enrich.started = 4, 4
    counters.gauges.enqueued = {("enrich", "q:default"): 5}
    counters.spend("enrich", "USD", 1.25)
    enrich.done(0.3, 1, 0.01)
    enrich.done(700.0, 2, 0.5)
    enrich.failed_attempt("TimeoutError", 2.0, 0.2, retried=True)
    enrich.failed_attempt("ValueError", 0.1, 0.2, retried=False)
    enrich.bury("permanent_error", 1)
    counters.of("enrich", "q:other").done(0.3, 1, 0.01)
    counters.of("enrich", "q:other").ended_failed(3)
    counters.notified("postmill")
    counters.poll_scanned = 7
    counters.gauges.measured(
        [
            Depth("q:default", "t1", "queued", 30),
            Depth("q:default", "t2", "queued", 12),
            Depth("q:default", "t1", "scheduled", 99),
            Depth("q:empty", "t1", "scheduled", 1),
            Depth("q:empty", "t1", "dead_letter", 2),
        ],
        oldest={"q:default": 4.5},
        types={"enrich": 42},
    )
    counters.gauges.slots = lambda: {"q:default": Usage(10, 4), "SCREENSHOT": Usage(3, 1)}
    counters.gauges.limits = lambda: {"SCREENSHOT_CAPTURE": Usage(3, 2)}
    return counters


def samples(page: bytes) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    found = {}
    for family in text_string_to_metric_families(page.decode()):
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found, f"{key} is there twice"
            found[key] = sample.value
    return found


def value(page: bytes, name: str, **labels: str) -> float:
    return samples(page)[name, frozenset(labels.items())]


@pytest.mark.parametrize("counters", [Counters(), worked()], ids=["first scrape", "later"])
def test_every_name_has_help_and_type_to_the_letter_samples_or_not(counters: Counters) -> None:
    lines = render(counters).decode().split("\n")
    types = dict(line.split(" ")[2:4] for line in lines if line.startswith("# TYPE "))
    helps = {line.split(" ")[2] for line in lines if line.startswith("# HELP ")}
    assert types == {family.name: family.kind for family in FAMILIES}
    assert helps == set(types)
    assert {name: types.get(name) for name in NAMES} == NAMES
    assert len([line for line in lines if line.startswith("# TYPE ")]) == len(types), "a name is there twice"


def test_labels_are_to_the_letter() -> None:
    found: dict[str, set[str]] = {}
    for name, labels in samples(render(worked())):
        found[name] = {label for label, _ in labels}
    assert {name: found.get(name) for name in LABELS} == LABELS


def test_seed_5() -> None:
    page = render(worked())
    here = {"job_type": "enrich", "queue": "q:default"}
    assert value(page, "jobs_enqueued_total", **here) == 5
    assert value(page, "jobs_started_total", **here) == 4
    assert value(page, "jobs_succeeded_total", **here) == 2
    assert value(page, "jobs_failed_total", **here, error_class="TimeoutError") == 1
    assert value(page, "jobs_duration_seconds_count", **here) == 4
    assert value(page, "jobs_duration_seconds_bucket", **here, le="0.25") == 1
    assert value(page, "jobs_duration_seconds_bucket", **here, le="+Inf") == 4
    assert value(page, "jobs_duration_seconds_sum", **here) == pytest.approx(702.4)
    assert value(page, "jobs_attempts_histogram_count", job_type="enrich") == 5
    assert value(page, "jobs_attempts_histogram_bucket", job_type="enrich", le="1.0") == 3
    assert value(page, "deadletter_total", **here) == 1


def test_dead_letters_under_the_name_of_their_queue() -> None:
    """Of several queues with one name the letters are one sample; everything else stays where it was."""
    counters = worked()
    counters.of("enrich", "q:other").bury("expired", 1)
    counters.of("enrich", "q:plain").bury("expired", 1)
    counters.gauges.dead_letters_as = dict.fromkeys(("q:default", "q:other", "q:empty"), "q:deadletter")
    page = render(counters)
    here = {"job_type": "enrich", "queue": "q:deadletter"}
    assert value(page, "deadletter_total", **here) == 2
    assert value(page, "deadletter_total", job_type="enrich", queue="q:plain") == 1
    assert value(page, "deadletter_reasons_total", **here, reason="expired") == 1
    assert value(page, "deadletter_reasons_total", **here, reason="permanent_error") == 1
    assert value(page, "deadletter_open", queue="q:deadletter") == 2
    assert value(page, "jobs_started_total", job_type="enrich", queue="q:default") == 4
    counters.gauges.noted({"depths": [], "types": {}, "dead_letters_as": {}})
    assert value(render(counters), "deadletter_total", job_type="enrich", queue="q:default") == 1


def test_seed_2() -> None:
    page = render(worked())
    assert value(page, "job_queue_depth", job_type="enrich") == 42
    assert value(page, "job_claimed_total", job_type="enrich", worker_id="host:1:boot") == 4
    assert value(page, "job_completed_total", job_type="enrich", status="success") == 3
    assert value(page, "job_completed_total", job_type="enrich", status="failed") == 1
    assert value(page, "job_completed_total", job_type="enrich", status="dead") == 1
    assert value(page, "job_processing_seconds_count", job_type="enrich") == 5
    assert value(page, "job_notification_received_total", channel="postmill") == 1
    assert value(page, "job_poll_scanned_total") == 7


def test_seed_1() -> None:
    page = render(worked())
    here = {"job_type": "enrich", "queue": "q:default"}
    assert value(page, "job_execution_duration_seconds_count", **here, status="success") == 2
    assert value(page, "job_execution_duration_seconds_count", **here, status="failure") == 2
    assert value(page, "job_queue_backlog_total", queue="q:default") == 42
    assert value(page, "job_queue_backlog_total", queue="q:empty") == 0
    assert value(page, "job_retry_total", **here) == 1
    assert value(page, "screenshot_concurrency_utilization") == 2


def test_screenshots_are_those_of_the_queue_if_no_type_has_a_limit() -> None:
    counters = worked()
    counters.gauges.limits = dict
    assert value(render(counters), "screenshot_concurrency_utilization") == 1


def test_queues_and_slots() -> None:
    page = render(worked())
    assert value(page, "jobs_queue_depth", queue="q:default", tenant="t2", status="queued") == 12
    assert value(page, "jobs_queue_oldest_seconds", queue="q:default") == 4.5
    assert value(page, "postmill_slots", queue="q:default") == 10
    assert value(page, "postmill_slots_available", queue="q:default") == 6
    assert value(page, "postmill_type_running", job_type="SCREENSHOT_CAPTURE") == 2


@pytest.mark.parametrize(
    "odd", ['"', "\\", "\n", "a\x00b", "\ud800", "ü€😀", "x" * 5000, "", "{le=}", "# HELP"]
)
def test_no_label_value_breaks_the_page(odd: str) -> None:
    counters = Counters(odd)
    counters.of(odd, odd).failed_attempt(odd, 1.0, 1.0, retried=False)
    counters.of(odd, odd).bury(odd, 1)
    counters.notified(odd)
    samples(render(counters))


def test_values_that_become_equal_by_cleaning_are_summed() -> None:
    counters = Counters()
    for error_class in ("a\x00", "a\ud800", "a\N{REPLACEMENT CHARACTER}"):
        counters.of("t", "q").failed_attempt(error_class, 1.0, 1.0, retried=False)
    counters.of("u\x00", "q").done(1.0, 1, 1.0)
    counters.of("u\ud800", "q").done(1.0, 1, 1.0)
    page = render(counters)
    error_class = "a\N{REPLACEMENT CHARACTER}"
    assert value(page, "jobs_failed_total", job_type="t", queue="q", error_class=error_class) == 3
    assert value(page, "jobs_duration_seconds_count", job_type="u\N{REPLACEMENT CHARACTER}", queue="q") == 2


def test_buckets_are_cumulative_and_end_with_the_count() -> None:
    for family in text_string_to_metric_families(render(worked()).decode()):
        if family.type != "histogram":
            continue
        series: dict[Any, list[tuple[float, float]]] = {}
        counts = {}
        for sample in family.samples:
            labels = {label: text for label, text in sample.labels.items() if label != "le"}
            key = tuple(sorted(labels.items()))
            if sample.name.endswith("_bucket"):
                series.setdefault(key, []).append((float(sample.labels["le"]), sample.value))
            elif sample.name.endswith("_count"):
                counts[key] = sample.value
        for key, buckets in series.items():
            assert buckets == sorted(buckets)
            assert [count for _, count in buckets] == sorted(count for _, count in buckets)
            assert buckets[-1] == (float("inf"), counts[key])


@pytest.mark.parametrize("odd", ["plain", 'a"b\\c\nd', "ü\x00"])
def test_our_writer_and_prometheus_clients_say_the_same(odd: str) -> None:
    counters = worked()
    counters.of(odd, odd).failed_attempt(odd, 1.0, 1.0, retried=True)
    ours, theirs = render(counters), generate_latest(CountersCollector(counters))
    # A counter whose name does not end in _total their writer cannot write.
    named = b"# TYPE job_budget_consumed_dollars "
    assert named + b"untyped\n" in theirs
    theirs = theirs.replace(named + b"untyped", named + b"counter")
    assert samples(ours) == samples(theirs)
    heads = [[line for line in page.splitlines() if line.startswith(b"#")] for page in (ours, theirs)]
    assert heads[0] == heads[1]


def test_other_collectors_follow_on_the_page() -> None:
    registry = CollectorRegistry()
    Counter("app_pages", "Pages fetched.", registry=registry).inc(3)
    assert value(render(Counters(), registry), "app_pages_total") == 3


def test_it_may_be_registered_in_a_registry() -> None:
    registry = CollectorRegistry()
    registry.register(CountersCollector(worked()))
    assert registry.get_sample_value("job_poll_scanned_total") == 7
    assert all(isinstance(metric, Metric) for metric in registry.collect())
