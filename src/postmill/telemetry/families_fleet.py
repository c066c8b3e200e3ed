"""What is measured of queues and of the worker itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from postmill.telemetry.counters import Counters
from postmill.telemetry.family import Family, Point
from postmill.telemetry.gauges import Archive


def plain(read: Callable[[Counters], float]) -> Callable[[Counters], Iterator[Point]]:
    """One point without labels."""
    return lambda counters: iter([((), read(counters))])


def _depths(counters: Counters) -> Iterator[Point]:
    return (((row.queue, row.tenant, row.status), row.count) for row in counters.gauges.depths)


def _oldest(counters: Counters) -> Iterator[Point]:
    return (((queue,), seconds) for queue, seconds in counters.gauges.oldest.items())


def _dead(counters: Counters) -> Iterator[Point]:
    sums: dict[str, int] = {}
    names = counters.gauges.dead_letters_as
    for row in counters.gauges.depths:
        shown = names.get(row.queue, row.queue)
        sums[shown] = sums.get(shown, 0) + (row.count if row.status == "dead_letter" else 0)
    return (((queue,), count) for queue, count in sums.items())


def _archive(read: Callable[[Archive], float]) -> Callable[[Counters], Iterator[Point]]:
    """One point where something has to go to the archive."""
    return lambda counters: iter([((), read(it))] if (it := counters.gauges.archive) else [])


FLEET_FAMILIES = (
    Family("jobs_queue_depth", "gauge", "Jobs by queue, tenant and status, as last measured.",
           ("queue", "tenant", "status"), _depths),
    Family("jobs_queue_oldest_seconds", "gauge", "How long the oldest queued job has been due.",
           ("queue",), _oldest),
    Family("postmill_workers", "gauge", "Workers of the fleet by state: running, draining, lost (gone without a word).",
           ("state",), lambda it: (((state,), n) for state, n in it.gauges.workers.items())),
    Family("postmill_incidents", "gauge", "Open incidents, as last measured; the queue is empty where it is about none.",
           ("kind", "severity", "queue"), lambda it: iter(it.gauges.incidents.items())),
    Family("deadletter_open", "gauge", "Dead letters that wait for an operator, as last measured.",
           ("queue",), _dead),
    Family("postmill_rate_limit", "gauge", "Jobs of a type that may start a second, by its limit.", ("job_type",),
           lambda it: (((rate.job_type,), rate.per_second) for rate in it.gauges.rates)),
    Family("postmill_rate_limit_wait_seconds", "gauge", "How long no job of a type may start, by its limit.",
           ("job_type",), lambda it: (((rate.job_type,), rate.wait) for rate in it.gauges.rates)),
    Family("postmill_slots", "gauge", "Slots of this worker.", ("queue",),
           lambda it: (((name,), usage.size) for name, usage in it.gauges.slots().items())),
    Family("postmill_slots_available", "gauge", "Slots of this worker that are free.", ("queue",),
           lambda it: (((name,), usage.available) for name, usage in it.gauges.slots().items())),
    Family("postmill_slots_floor", "gauge", "The least slots of this worker, where they follow the work.", ("queue",),
           lambda it: (((name,), least) for name, (least, _) in it.gauges.ranges().items())),
    Family("postmill_slots_ceiling", "gauge", "The most slots of this worker, where they follow the work.", ("queue",),
           lambda it: (((name,), most) for name, (_, most) in it.gauges.ranges().items())),
    Family("postmill_pressure", "gauge", "How short of processor and memory the machine is, from 0 to 1, where slots follow it.",
           ("kind",), lambda it: (((kind,), share) for kind, share in it.gauges.pressure().items())),
    Family("postmill_type_limit", "gauge", "This worker's limit for a job type.", ("job_type",),
           lambda it: (((name,), usage.size) for name, usage in it.gauges.limits().items())),
    Family("postmill_type_running", "gauge", "Running jobs of a type that has a worker limit.", ("job_type",),
           lambda it: (((name,), usage.used) for name, usage in it.gauges.limits().items())),
    Family("postmill_worker_info", "gauge", "1, with the worker's id.", ("worker_id",),
           lambda it: iter([((it.worker_id,), 1)] if it.worker_id else [])),
    Family("postmill_claims_total", "counter", "Claim statements run.", (),
           plain(lambda it: it.claims)),
    Family("postmill_empty_claims_total", "counter", "Claim statements that found nothing.", (),
           plain(lambda it: it.empty_claims)),
    Family("postmill_polls_total", "counter", "Rounds that looked for work unasked.", (),
           plain(lambda it: it.polls)),
    Family("postmill_wakeups_total", "counter", "Times that the sleeping worker was woken.", (),
           plain(lambda it: it.wakeups)),
    Family("postmill_reports_total", "counter", "Ended attempts written.", (),
           plain(lambda it: it.reports)),
    Family("postmill_report_batches_total", "counter", "Statements that wrote ended attempts.", (),
           plain(lambda it: it.report_batches)),
    Family("postmill_reports_missed_total", "counter", "Reports for jobs that were no longer ours.", (),
           plain(lambda it: it.missed_reports)),
    Family("postmill_lease_renewals_total", "counter", "Renewals of this worker's lease.", (),
           plain(lambda it: it.lease_renewals)),
    Family("postmill_leases_lost_total", "counter", "Leases that ended while they were needed.", (),
           plain(lambda it: it.leases_lost)),
    Family("postmill_ticks_total", "counter", "Ticks of schedules by outcome; a stretch left out counts once.",
           ("outcome",), lambda it: (((name,), n) for name, n in list(it.ticks.items()))),
    Family("postmill_tick_late_seconds", "gauge", "Longest time from a due moment to its job, in the last round.", (),
           plain(lambda it: it.tick_late)),
    Family("postmill_deliveries_total", "counter", "Deliveries of events settled by rounds, by outcome.",
           ("outcome",), lambda it: (((name,), n) for name, n in list(it.deliveries.items()))),
    Family("postmill_archive_waiting", "gauge", "Units that wait for the cold archive, as last measured.", (),
           _archive(lambda it: it.waiting)),
    Family("postmill_archive_oldest_seconds", "gauge", "How long the oldest of them has waited.", (),
           _archive(lambda it: it.oldest)),
    Family("postmill_archive_failing", "gauge", "Units that could not be written when it was last tried.", (),
           _archive(lambda it: it.failing)),
    Family("postmill_archived_rows_total", "counter", "Rows that went to the cold archive, by table.", ("source",),
           lambda it: (((name,), n) for name, n in list(it.archived.items()))),
    Family("postmill_reconnects_total", "counter", "Connections made anew after a loss.", (),
           plain(lambda it: it.reconnects)),
)  # fmt: skip
"""What no seed names: `jobs_queue_…` for queues, `postmill_…` for the worker."""
