"""The names of seeds 1 and 2, to the letter: computed at the scrape from what is counted anyway."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from postmill.telemetry.counters import Counters
from postmill.telemetry.families_budgets import dollars
from postmill.telemetry.families_fleet import plain
from postmill.telemetry.families_jobs import TYPE_QUEUE, by_job_type, duration, per_type
from postmill.telemetry.family import Family, Point
from postmill.telemetry.type_counters import TypeCounters


def _summed_by_type(counters: Counters, read: Callable[[TypeCounters], int]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for one in counters.types():
        sums[one.job_type] = sums.get(one.job_type, 0) + read(one)
    return sums


def _claimed(counters: Counters) -> Iterator[Point]:
    sums = _summed_by_type(counters, lambda one: one.claimed)
    return (((job_type, counters.worker_id), count) for job_type, count in sums.items())


def _completed(counters: Counters) -> Iterator[Point]:
    for status, read in _COMPLETED.items():
        for job_type, count in _summed_by_type(counters, read).items():
            yield (job_type, status), count


_COMPLETED: dict[str, Callable[[TypeCounters], int]] = {
    "success": lambda one: one.succeeded,
    "failed": lambda one: one.ended,
    "dead": lambda one: sum(list(one.dead.values())),
}


def _execution(counters: Counters) -> Iterator[Point]:
    for one in counters.types():
        yield (one.job_type, one.queue, "success"), one.success
        yield (one.job_type, one.queue, "failure"), one.failure


def _backlog(counters: Counters) -> Iterator[Point]:
    sums: dict[str, int] = {}
    for row in counters.gauges.depths:
        sums[row.queue] = sums.get(row.queue, 0) + (row.count if row.status == "queued" else 0)
    return (((queue,), count) for queue, count in sums.items())


def _screenshots(counters: Counters) -> float:
    """What is in use of job types with a worker limit, else of queues, that have *screenshot* in the name."""
    for usages in (counters.gauges.limits(), counters.gauges.slots()):
        found = [usage.used for name, usage in usages.items() if "screenshot" in name.casefold()]
        if found:
            return sum(found)
    return 0


SEED_2_FAMILIES = (
    Family("job_queue_depth", "gauge", "Queued jobs by type, as last measured.", ("job_type",),
           lambda it: (((job_type,), count) for job_type, count in it.gauges.types.items())),
    Family("job_claimed_total", "counter", "Jobs that this worker claimed.",
           ("job_type", "worker_id"), _claimed),
    Family("job_completed_total", "counter",
           "Jobs that ended: success, failed (without a dead letter), dead (with one).",
           ("job_type", "status"), _completed),
    Family("job_processing_seconds", "histogram", "How long handlers ran, successful or not.",
           ("job_type",), by_job_type(duration)),
    Family("job_notification_received_total", "counter", "Notifications received.", ("channel",),
           lambda it: (((channel,), count) for channel, count in list(it.notifications.items()))),
    Family("job_poll_scanned_total", "counter", "Jobs found by polling.", (),
           plain(lambda it: it.poll_scanned)),
)  # fmt: skip

SEED_1_FAMILIES = (
    Family("job_execution_duration_seconds", "histogram", "How long handlers ran, by success or failure.",
           (*TYPE_QUEUE, "status"), _execution),
    Family("job_queue_backlog_total", "gauge", "Queued jobs, as last measured.", ("queue",), _backlog),
    Family("job_retry_total", "counter", "Failed attempts after which another was scheduled.",
           TYPE_QUEUE, per_type(lambda one: one.retried)),
    Family("screenshot_concurrency_utilization", "gauge", "Screenshot permits in use in this worker.", (),
           plain(_screenshots)),
    Family("job_budget_consumed_dollars", "counter", "Dollars that jobs of this process spent from budgets.",
           ("job_type",), dollars),
)  # fmt: skip
