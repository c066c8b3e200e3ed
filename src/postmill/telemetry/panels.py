"""What the dashboard shows: one line a query, in rows of panels. A new metric becomes visible by a line here.

`$__rate_interval`, `$queue` and `$job_type` are Grafana's to fill in. What each process counts is summed up; what is
measured once for the whole fleet, and shown by several processes, is taken once (`max`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["timeseries", "stat"]


@dataclass(frozen=True, slots=True)
class Query:
    """A PromQL expression, and the legend of its lines."""

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture.

    Attributes:
        title: above it.
        unit: as Grafana calls it: short, s, percentunit, cpm (a minute), reqps …
        queries: its lines.
        about: what it means, behind the (i) of the panel.
        kind: `stat` is a single large number.
        alarm: values from here on are red; None: never.
    """

    title: str
    unit: str
    queries: tuple[Query, ...]
    about: str = ""
    kind: Kind = "timeseries"
    alarm: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A heading and its panels."""

    title: str
    panels: tuple[Panel, ...]


OF = '{queue=~"$queue", job_type=~"$job_type"}'
OF_QUEUE = '{queue=~"$queue"}'
OF_TYPE = '{job_type=~"$job_type"}'
SUCCEEDED = '{status="success", job_type=~"$job_type"}'
BURIED = '{status="dead", job_type=~"$job_type"}'


def per_minute(counter: str, by: str, labels: str = OF) -> str:
    """Growth of a counter a minute."""
    return f"sum by ({by}) (rate({counter}{labels}[$__rate_interval])) * 60"


def share(part: str, whole: str) -> str:
    """How much of one counter's growth another one's is, 0 to 1; nothing where nothing grows."""
    return f"sum(rate({part}[$__rate_interval])) / (sum(rate({whole}[$__rate_interval])) > 0)"


def once(gauge: str, by: str, labels: str) -> str:
    """A gauge of the fleet, once and not once for each process that shows it, summed up to `by`."""
    return f"sum by ({by}) (max without (instance, job) ({gauge}{labels}))"


def quantiles(histogram: str) -> tuple[Query, ...]:
    """Its p50, p95 and p99 by queue."""
    return tuple(
        Query(
            f"histogram_quantile({q}, sum by (queue, le) (rate({histogram}_bucket{OF}[$__rate_interval])))",
            f"{{{{queue}}}} {name}",
        )
        for name, q in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
    )


QUEUED = '{status="queued", queue=~"$queue"}'

GLANCE = Row("At a glance", (
    Panel("Finished a minute", "cpm", (Query(f"sum(rate(jobs_succeeded_total{OF}[$__rate_interval])) * 60"),),
          "Jobs that succeeded.", "stat"),
    Panel("Success", "percentunit",
          (Query(share(f"job_completed_total{SUCCEEDED}", f"job_completed_total{OF_TYPE}")),),
          "Share of the jobs that ended which succeeded.", "stat"),
    Panel("Waiting", "short", (Query(f"sum(max without (instance, job) (jobs_queue_depth{QUEUED}))"),),
          "Jobs that are due and wait for a worker.", "stat"),
    Panel("Oldest", "s", (Query(f"max(jobs_queue_oldest_seconds{OF_QUEUE})"),),
          "How long the oldest of them has been due.", "stat", 300),
    Panel("Dead letters", "short", (Query(f"sum(max without (instance, job) (deadletter_open{OF_QUEUE}))"),),
          "Open ones: jobs given up on, waiting for an operator.", "stat", 11),
    Panel("Workers", "short", (Query('max by (state) (postmill_workers{state="running"})'),),
          "Live ones, as the database knows them.", "stat"),
))  # fmt: skip

FLOW = Row("Throughput", (
    Panel("Jobs a minute", "cpm", (
        Query(f"sum(max without (instance, job) (rate(jobs_enqueued_total{OF}[$__rate_interval]))) * 60", "enqueued"),
        Query(f"sum(rate(jobs_started_total{OF}[$__rate_interval])) * 60", "started"),
        Query(f"sum(rate(jobs_succeeded_total{OF}[$__rate_interval])) * 60", "succeeded"),
        Query(f"sum(rate(jobs_failed_total{OF}[$__rate_interval])) * 60", "failed attempts"))),
    Panel("Finished a minute by job type", "cpm",
          (Query(per_minute("jobs_succeeded_total", "job_type"), "{{job_type}}"),)),
    Panel("Success, retries, dead letters", "percentunit", (
        Query(share(f"job_completed_total{SUCCEEDED}", f"job_completed_total{OF_TYPE}"), "success"),
        Query(share(f"jobs_retried_total{OF}", f"jobs_started_total{OF}"), "retries"),
        Query(share(f"job_completed_total{BURIED}", f"job_completed_total{OF_TYPE}"), "dead letters")),
        "Success and dead letters: of the jobs that ended. Retries: of the attempts that started."),
))  # fmt: skip

TIMES = Row("Times", (
    Panel("Run time", "s", quantiles("jobs_duration_seconds"), "Of each attempt, successful or not."),
    Panel("Wait", "s", quantiles("jobs_queue_latency_seconds"), "From ready to the start of the handler."),
    Panel("P95 Execution Latency by Queue", "s", (Query(
        "histogram_quantile(0.95, sum by (queue, le) (rate(job_execution_duration_seconds_bucket[5m])))", "{{queue}}"),)),
))  # fmt: skip

WAITING = Row("Queues", (
    Panel("Queue Backlog Over Time", "short", (Query("sum by (queue) (job_queue_backlog_total)", "{{queue}}"),),
          "Right where one process shows what is measured of the fleet: see `postmill dashboards scrape`."),
    Panel("Jobs by state", "short",
          (Query(once("jobs_queue_depth", "queue, status", OF_QUEUE), "{{queue}} {{status}}"),)),
    Panel("Waiting by tenant", "short",
          (Query(f"topk(10, {once('jobs_queue_depth', 'tenant', QUEUED)})", "{{tenant}}"),),
          "The ten with the most."),
    Panel("Waiting by job type", "short",
          (Query(once("job_queue_depth", "job_type", OF_TYPE), "{{job_type}}"),)),
    Panel("Oldest waiting job", "s",
          (Query(f"max by (queue) (jobs_queue_oldest_seconds{OF_QUEUE})", "{{queue}}"),), alarm=300),
))  # fmt: skip

FAILURES = Row("Failures", (
    Panel("Failed attempts a minute", "cpm",
          (Query(per_minute("jobs_failed_total", "job_type, error_class"), "{{job_type}} {{error_class}}"),)),
    Panel("Retries a minute", "cpm", (Query(per_minute("job_retry_total", "job_type"), "{{job_type}}"),)),
    Panel("New dead letters a minute", "cpm",
          (Query(per_minute("deadletter_reasons_total", "job_type, reason"), "{{job_type}} {{reason}}"),)),
    Panel("Open incidents", "short",
          (Query("sum by (kind, queue) (max without (instance, job) (postmill_incidents))", "{{kind}} {{queue}}"),),
          "What somebody was told of, or must look at: postmill incidents list.", alarm=1),
    Panel("Open dead letters", "short", (Query(once("deadletter_open", "queue", OF_QUEUE), "{{queue}}"),), alarm=11),
))  # fmt: skip

FLEET = Row("Workers", (
    Panel("Workers", "short", (Query("max by (state) (postmill_workers)", "{{state}}"),),
          "running, draining, and lost: gone without a word."),
    Panel("Slots in use", "percentunit", (Query(
        f"1 - sum by (queue) (postmill_slots_available{OF_QUEUE}) / sum by (queue) (postmill_slots{OF_QUEUE})",
        "{{queue}}"),)),
    Panel("Screenshot Concurrency Utilization (P12)", "percent",
          (Query("screenshot_concurrency_utilization / 3 * 100", "{{instance}}"),), "Of a pool of three."),
    Panel("Wait for a rate limit", "s",
          (Query(f"max by (job_type) (postmill_rate_limit_wait_seconds{OF_TYPE})", "{{job_type}}"),),
          "Until one more job of the type may start; 0: at once."),
    Panel("Leases a minute", "cpm", (
        Query("sum(rate(postmill_lease_renewals_total[$__rate_interval])) * 60", "renewed"),
        Query("sum(rate(postmill_leases_lost_total[$__rate_interval])) * 60", "lost"),
        Query("sum(rate(postmill_reports_missed_total[$__rate_interval])) * 60", "reports too late"))),
    Panel("Claims a second", "ops", (
        Query("sum(rate(postmill_claims_total[$__rate_interval]))", "claims"),
        Query("sum(rate(postmill_empty_claims_total[$__rate_interval]))", "that found nothing"),
        Query("sum(rate(postmill_wakeups_total[$__rate_interval]))", "wake-ups"),
        Query("sum(rate(postmill_polls_total[$__rate_interval]))", "polls"))),
    Panel("Reconnections", "short", (Query("sum(increase(postmill_reconnects_total[$__rate_interval]))", "database"),),
          "Connections to the database made anew after a loss."),
    Panel("Schedules: lateness", "s", (Query("max(postmill_tick_late_seconds)", "worst"),),
          "From a due moment to its job, in the last round."),
))  # fmt: skip

BUDGETS = Row("Budgets", (
    Panel("Budgets used", "percentunit",
          (Query("max by (budget, tenant) (postmill_budget_used_ratio)", "{{budget}} {{tenant}}"),),
          "Share of the limit of the present period that is spent or reserved. Without a tenant: the platform's.",
          alarm=0.9),
    Panel("Dollars an hour", "currencyUSD",
          (Query(f"sum by (job_type) (rate(job_budget_consumed_dollars{OF_TYPE}[$__rate_interval])) * 3600", "{{job_type}}"),),
          "Booked in budgets whose unit is dollars or cents."),
    Panel("Runs that a budget ended", "cpm",
          (Query(per_minute("postmill_budget_throttles_total", "job_type, action"), "{{job_type}} {{action}}"),),
          "defer: ended with nothing done; stop: given up as budget_exhausted."),
))  # fmt: skip

API = Row("HTTP API", (
    Panel("Requests a second", "reqps", (
        Query("sum by (status) (rate(postmill_http_requests_total[$__rate_interval]))", "{{status}}"),)),
    Panel("Time to answer, p95", "s", (Query(
        "histogram_quantile(0.95, sum by (route, le) (rate(postmill_http_request_seconds_bucket[$__rate_interval])))",
        "{{route}}"),)),
))  # fmt: skip

ROWS: tuple[Row, ...] = (GLANCE, FLOW, TIMES, WAITING, FAILURES, FLEET, BUDGETS, API)
"""The dashboard, from top to bottom."""
