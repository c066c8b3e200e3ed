"""What goes on right now, on one page: queues, workers, what runs, what failed lately, what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow
from postmill.store.queues import QueueRow, read_queues
from postmill.store.top import (
    Failure,
    LiveIncident,
    QueueRate,
    RunningJob,
    top_failures,
    top_incidents,
    top_moment,
    top_rates,
    top_running,
)
from postmill.store.workers import WorkerView, read_workers

LATELY = 900.0
"""Seconds for which a worker that has gone is still shown."""

COUNTED = 10_000
"""Where the count of a queue's jobs in a state ends: there may be more."""


class Sort(StrEnum):
    """By what the queues are ordered; the largest first, but for `queue`: the most urgent first."""

    QUEUE = "queue"
    QUEUED = "queued"
    RUNNING = "running"
    OLDEST = "oldest"
    RATE = "rate"
    FAILED = "failed"
    P95 = "p95"


@dataclass(frozen=True, slots=True)
class TopQueue:
    """A queue. Counts end at 10,000; see `QueueRate` for the rest."""

    name: str
    paused: bool
    pause_reason: str | None
    queued: int
    scheduled: int
    running: int
    dead_letters: int
    oldest_seconds: float | None
    ended_per_minute: float
    failed_per_minute: float
    p95_seconds: float | None


@dataclass(frozen=True, slots=True)
class Top:
    """The page. `at` is the database's moment."""

    at: datetime
    queues: list[TopQueue]
    workers: list[WorkerView]
    running: list[RunningJob]
    failures: list[Failure]
    incidents: list[LiveIncident]


def top(*, most: int = 10, sort: Sort = Sort.QUEUE, schema: str = DEFAULT_SCHEMA) -> Flow[Top]:
    """One look: six bounded statements, under 100 ms also where a million jobs wait.

    Args:
        most: running jobs, failures and incidents that are told.
        sort: order of the queues.
        schema: where Postmill's tables are.
    """
    at: datetime = yield top_moment(schema=schema)
    queues: list[QueueRow] = yield read_queues(schema=schema)
    rates: list[QueueRate] = yield top_rates(schema=schema)
    workers: list[WorkerView] = yield read_workers(seen_within=LATELY, schema=schema)
    running: list[RunningJob] = yield top_running(most, schema=schema)
    failures: list[Failure] = yield top_failures(most, schema=schema)
    incidents: list[LiveIncident] = yield top_incidents(most, schema=schema)
    by_name = {rate.queue: rate for rate in rates}
    rows = [_row(queue, by_name.get(queue.name)) for queue in queues]
    shown = [worker for worker in workers if worker.state != "stopped"]
    return Top(at, in_order(rows, sort), shown, running, failures, incidents)


def in_order(queues: list[TopQueue], sort: Sort) -> list[TopQueue]:
    """The queues in this order; those that are alike stay as they are."""
    return sorted(queues, key=_KEYS[sort], reverse=True) if sort is not Sort.QUEUE else queues


_KEYS: dict[Sort, Callable[[TopQueue], float]] = {
    Sort.QUEUED: lambda it: it.queued,
    Sort.RUNNING: lambda it: it.running,
    Sort.OLDEST: lambda it: it.oldest_seconds or 0.0,
    Sort.RATE: lambda it: it.ended_per_minute,
    Sort.FAILED: lambda it: it.failed_per_minute,
    Sort.P95: lambda it: it.p95_seconds or 0.0,
}


def _row(queue: QueueRow, rate: QueueRate | None) -> TopQueue:
    return TopQueue(
        name=queue.name,
        paused=queue.paused,
        pause_reason=queue.pause_reason,
        queued=queue.queued or 0,
        scheduled=queue.scheduled or 0,
        running=queue.running or 0,
        dead_letters=queue.dead_letters or 0,
        oldest_seconds=queue.oldest_seconds,
        ended_per_minute=rate.ended if rate else 0.0,
        failed_per_minute=rate.failed if rate else 0.0,
        p95_seconds=rate.p95 if rate else None,
    )
