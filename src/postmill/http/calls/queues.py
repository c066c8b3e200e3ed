"""Queues, workers, and what goes on."""

from __future__ import annotations

from datetime import datetime

from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.paging import Page
from postmill.shapes.queues import Queue
from postmill.shapes.scaling import Scaling
from postmill.shapes.top import Top
from postmill.shapes.workers import HeldJob, RescuedWorker, Worker


def list_queues() -> Call[Page[Queue]]:
    """All queues, the most urgent first."""
    return get(at("queues"), model(Page[Queue]))


def get_queue(queue: str) -> Call[Queue]:
    """One queue."""
    return get(at("queues", queue), model(Queue))


def pause_queue(
    queue: str,
    *,
    reason: str | None = None,
    resume_at: datetime | None = None,
    idempotency_key: str | None = None,
) -> Call[Queue]:
    """Stops handing out jobs of a queue, until `resume_at` or until it is resumed. Running ones go on."""
    body = {"reason": reason, "resume_at": resume_at}
    return write("POST", at("queues", queue, "pause"), model(Queue), body, key=idempotency_key)


def resume_queue(queue: str, *, idempotency_key: str | None = None) -> Call[Queue]:
    """Hands out jobs of a queue again."""
    return write("POST", at("queues", queue, "resume"), model(Queue), key=idempotency_key)


def list_scaling(
    *,
    drain_seconds: float | None = None,
    slots_each: int | None = None,
    least: int | None = None,
    most: int | None = None,
) -> Call[Page[Scaling]]:
    """How many workers each queue needs; the arguments are those of `get_scaling`."""
    return get(
        at("scaling"),
        model(Page[Scaling]),
        drain_seconds=drain_seconds,
        slots_each=slots_each,
        least=least,
        most=most,
    )


def get_scaling(
    queue: str,
    *,
    drain_seconds: float | None = None,
    slots_each: int | None = None,
    least: int | None = None,
    most: int | None = None,
) -> Call[Scaling]:
    """How many workers a queue needs, and why.

    Args:
        drain_seconds: what waits shall have started within so long; by default as the queue promises, or 120.
        slots_each: slots of one worker; by default as those that work have, or 10.
        least, most: bounds of the answer.
    """
    return get(
        at("scaling", queue),
        model(Scaling),
        drain_seconds=drain_seconds,
        slots_each=slots_each,
        least=least,
        most=most,
    )


def list_workers(
    *, seen_within_seconds: float | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[Worker]]:
    """Worker sessions, those that started last first; seen within a day by default."""
    return get(
        at("workers"),
        model(Page[Worker]),
        seen_within_seconds=seen_within_seconds,
        limit=limit,
        cursor=cursor,
    )


def get_worker(worker_id: Id) -> Call[Worker]:
    """One worker session."""
    return get(at("workers", worker_id), model(Worker))


def list_worker_jobs(worker_id: Id, *, limit: int | None = None) -> Call[Page[HeldJob]]:
    """What a worker holds, the oldest first: what is lost if it ends now."""
    return get(at("workers", worker_id, "jobs"), model(Page[HeldJob]), limit=limit)


def drain_worker(
    worker_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[Worker]:
    """Asks a worker to claim nothing more. Conflict where it has ended, or works over HTTP."""
    path = at("workers", worker_id, "drain")
    return write("POST", path, model(Worker), {"reason": reason}, key=idempotency_key)


def resume_worker(
    worker_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[Worker]:
    """Asks a worker to claim again."""
    path = at("workers", worker_id, "resume")
    return write("POST", path, model(Worker), {"reason": reason}, key=idempotency_key)


def stop_worker(
    worker_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[Worker]:
    """Asks a worker to end as soon as nothing runs."""
    path = at("workers", worker_id, "stop")
    return write("POST", path, model(Worker), {"reason": reason}, key=idempotency_key)


def rescue_worker(
    worker_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[RescuedWorker]:
    """Takes back what a lost worker held, at once. Conflict while its lease holds."""
    path = at("workers", worker_id, "rescue")
    return write("POST", path, model(RescuedWorker), {"reason": reason}, key=idempotency_key)


def show_top(*, sort: str | None = None, limit: int | None = None) -> Call[Top]:
    """Queues, workers, the longest running jobs, recent failures and open incidents, at a glance.

    Args:
        sort: order of the queues: queue | queued | running | oldest | rate | failed | p95.
        limit: how many jobs, failures and incidents; 10 by default.
    """
    return get(at("top"), model(Top), sort=sort, limit=limit)
