"""What is counted of jobs: seed 5's names, to the letter, and what they lack."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from postmill.telemetry.counters import Counters
from postmill.telemetry.family import Family, Point
from postmill.telemetry.histogram import Histogram, summed
from postmill.telemetry.type_counters import TypeCounters

TYPE_QUEUE = ("job_type", "queue")


def per_type(read: Callable[[TypeCounters], float | Histogram]) -> Callable[[Counters], Iterator[Point]]:
    """One point per (job type, queue)."""
    return lambda counters: (((one.job_type, one.queue), read(one)) for one in counters.types())


def per_value(read: Callable[[TypeCounters], dict[str, int]]) -> Callable[[Counters], Iterator[Point]]:
    """One point per (job type, queue, key of the dict)."""
    return lambda counters: (
        ((one.job_type, one.queue, key), count)
        for one in counters.types()
        for key, count in list(read(one).items())
    )


def by_job_type(
    read: Callable[[TypeCounters], Histogram],
) -> Callable[[Counters], Iterator[Point]]:
    """One histogram per job type, over its queues."""

    def points(counters: Counters) -> Iterator[Point]:
        found: dict[str, list[Histogram]] = {}
        for one in counters.types():
            found.setdefault(one.job_type, []).append(read(one))
        return (((job_type,), summed(histograms)) for job_type, histograms in found.items())

    return points


def duration(one: TypeCounters) -> Histogram:
    """How long attempts ran, however they ended."""
    return summed([one.success, one.failure])


def _dead(counters: Counters) -> dict[tuple[str, str, str], int]:
    """Dead letters by (job type, queue, reason), under the names that queues give to theirs."""
    sums: dict[tuple[str, str, str], int] = {}
    names = counters.gauges.dead_letters_as
    for one in counters.types():
        shown = names.get(one.queue, one.queue)
        for reason, count in list(one.dead.items()):
            key = one.job_type, shown, reason
            sums[key] = sums.get(key, 0) + count
    return sums


def _dead_in_all(counters: Counters) -> Iterator[Point]:
    """The same whatever the reason; each type has its sample, also of none."""
    names = counters.gauges.dead_letters_as
    sums = {(one.job_type, names.get(one.queue, one.queue)): 0 for one in counters.types()}
    for (job_type, queue, _), count in _dead(counters).items():
        sums[job_type, queue] = sums.get((job_type, queue), 0) + count
    return iter(sums.items())


JOB_FAMILIES = (
    Family("jobs_enqueued_total", "counter", "Jobs that were made, by anybody; only a server tells, for the whole fleet.",
           TYPE_QUEUE, lambda it: it.gauges.enqueued.items()),
    Family("jobs_claimed_total", "counter", "Jobs that this worker claimed.",
           TYPE_QUEUE, per_type(lambda one: one.claimed)),
    Family("jobs_started_total", "counter", "Attempts whose handler started.",
           TYPE_QUEUE, per_type(lambda one: one.started)),
    Family("jobs_succeeded_total", "counter", "Jobs that succeeded.",
           TYPE_QUEUE, per_type(lambda one: one.succeeded)),
    Family("jobs_failed_total", "counter", "Attempts that failed, whether or not another followed.",
           (*TYPE_QUEUE, "error_class"), per_value(lambda one: one.failed)),
    Family("jobs_retried_total", "counter", "Failed attempts after which another was scheduled.",
           TYPE_QUEUE, per_type(lambda one: one.retried)),
    Family("jobs_snoozed_total", "counter", "Attempts whose handler put the job off.",
           TYPE_QUEUE, per_type(lambda one: one.snoozed)),
    Family("jobs_canceled_total", "counter", "Running jobs that ended as canceled.",
           TYPE_QUEUE, per_type(lambda one: one.canceled)),
    Family("jobs_interrupted_total", "counter", "Running jobs that a draining worker gave back.",
           TYPE_QUEUE, per_type(lambda one: one.interrupted)),
    Family("jobs_duration_seconds", "histogram", "How long handlers ran, successful or not.",
           TYPE_QUEUE, per_type(duration)),
    Family("jobs_queue_latency_seconds", "histogram", "From ready to the start of the handler.",
           TYPE_QUEUE, per_type(lambda one: one.latency)),
    Family("jobs_attempts_histogram", "histogram", "Attempts that ended jobs had taken.",
           ("job_type",), by_job_type(lambda one: one.attempts)),
    Family("deadletter_total", "counter", "Jobs that became dead letters.",
           TYPE_QUEUE, _dead_in_all),
    Family("deadletter_reasons_total", "counter", "Jobs that became dead letters, by reason.",
           (*TYPE_QUEUE, "reason"), lambda it: iter(_dead(it).items())),
)  # fmt: skip
"""Canonical names: `jobs_…` as in seed 5."""
