from __future__ import annotations

from typing import Any

import pytest

from postmill.telemetry.counters import MAX_CHANNELS, MAX_TYPES, Counters
from postmill.telemetry.gauges import MAX_TENANTS, STALE_AFTER, Depth, Gauges, Usage
from postmill.telemetry.histogram import Histogram, summed
from postmill.telemetry.type_counters import MAX_VALUES, TypeCounters


def test_a_value_counts_in_the_bucket_that_it_just_fits() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 9.0):
        histogram.observe(value)
    assert histogram.counts == [2, 2, 1]
    assert histogram.cumulative() == [(1.0, 2), (2.0, 4), (float("inf"), 5)]
    assert histogram.sum == 14.0


def test_a_clock_that_steps_back_never_lowers_a_sum() -> None:
    histogram = Histogram((1.0,))
    histogram.observe(-3.0)
    assert (histogram.total, histogram.sum) == (1, 0.0)
    counters = TypeCounters("t", "q")
    counters.done(0.1, 1, -5.0)
    assert counters.latency.sum == 0.0
    assert counters.latency.counts[0] == 1


def test_histograms_are_added_if_their_bounds_agree() -> None:
    left, right = Histogram((1.0,)), Histogram((1.0,))
    left.observe(0.5)
    right.observe(2.0)
    assert summed([left, right]).counts == [1, 1]
    assert summed([left, right]).sum == 2.5
    with pytest.raises(ValueError, match="same bounds"):
        summed([left, Histogram((2.0,))])
    with pytest.raises(ValueError, match="same bounds"):
        summed([])


def test_what_done_counts() -> None:
    counters = TypeCounters("t", "q")
    counters.done(0.02, 3, 0.2)
    assert counters.succeeded == 1
    assert counters.success.sum == pytest.approx(0.02)
    assert counters.latency.sum == pytest.approx(0.2)
    assert counters.attempts.sum == 3
    assert counters.failure.total == 0


def test_what_the_other_ends_count() -> None:
    counters = TypeCounters("t", "q")
    counters.failed_attempt("TimeoutError", 1.0, 0.1, retried=True)
    counters.failed_attempt("ValueError", 1.0, 0.1, retried=False)
    counters.bury("permanent_error", 2)
    counters.ended_failed(5)
    counters.cancel()
    counters.snooze()
    counters.interrupt()
    assert counters.failed == {"TimeoutError": 1, "ValueError": 1}
    assert counters.dead == {"permanent_error": 1}
    assert (counters.retried, counters.ended) == (1, 1)
    assert (counters.canceled, counters.snoozed, counters.interrupted) == (1, 1, 1)
    assert counters.attempts.total == 2
    assert counters.failure.total == 2


def test_error_classes_and_reasons_are_capped() -> None:
    counters = TypeCounters("t", "q")
    for n in range(MAX_VALUES + 20):
        counters.failed_attempt(f"E{n}", 0.0, 0.0, retried=False)
        counters.bury(f"because {n}", 1)
    assert len(counters.failed) == len(counters.dead) == MAX_VALUES + 1
    assert counters.failed["other"] == counters.dead["other"] == 20


def test_job_types_and_channels_are_capped() -> None:
    counters = Counters()
    for n in range(MAX_TYPES + 5):
        counters.of(f"t{n}", "q").started += 1
    for n in range(MAX_CHANNELS + 5):
        counters.notified(f"c{n}")
    assert len(counters.types()) == MAX_TYPES + 1
    assert counters.of("t9999", "q") is counters.of("other", "other")
    assert counters.of("other", "other").started == 5
    assert counters.notifications["other"] == 5


def test_the_same_pair_has_the_same_counters() -> None:
    counters = Counters()
    assert counters.of("t", "q") is counters.of("t", "q")
    assert counters.of("t", "q") is not counters.of("t", "p")


def test_a_measurement_replaces_the_last_one_and_goes_stale(clock: Any) -> None:
    gauges = Gauges(clock)
    assert not gauges.fresh
    gauges.measured([Depth("q", "t", "queued", 3)], oldest={"q": 1.5}, types={"a": 3})
    gauges.measured([Depth("q", "t", "queued", 4)], oldest={"q": 2.5})
    assert gauges.depths == [Depth("q", "t", "queued", 4)]
    assert gauges.oldest == {"q": 2.5}
    assert gauges.types == {}
    clock.now += STALE_AFTER + 1
    assert gauges.depths == []
    assert gauges.oldest == {}


def test_the_deepest_tenants_are_shown_apart_and_the_rest_is_summed(clock: Any) -> None:
    gauges = Gauges(clock)
    gauges.measured(Depth("q", f"tenant-{n}", "queued", n) for n in range(MAX_TENANTS + 50))
    shown = {depth.tenant: depth.count for depth in gauges.depths}
    assert len(shown) == MAX_TENANTS + 1
    assert shown["other"] == sum(range(50))
    assert shown["tenant-149"] == 149


def test_usage_never_says_less_than_nothing_is_free() -> None:
    assert Usage(3, 1).available == 2
    assert Usage(3, 4).available == 0
