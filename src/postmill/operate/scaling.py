"""How many workers each queue needs: for autoscalers, and for people who plan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from postmill.domain.queue import match_queue
from postmill.domain.scaling import Aim, Because, Load, wanted
from postmill.store import queues
from postmill.store import scaling as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow


@dataclass(frozen=True, slots=True)
class Scaling:
    """What a queue has to do, who does it, and how many workers it needs.

    Attributes:
        at: when it was measured, by the database's clock.
        waiting: jobs that are due; `at_least`: there may be more, for counting ends at 10,000.
        oldest_seconds: how long the first of them has waited.
        arriving_per_second, finishing_per_second: of the last five whole minutes.
        run_seconds: how long a job runs, on average; None: none has ended in two days.
        workers, draining_workers: live sessions that claim, and those that only finish what they have.
        slots: of those that claim.
        drain_seconds: within so long what waits shall have started.
        slots_each: slots of one worker.
        desired_slots, desired_workers: what it needs; `because` decided, `text` says how.
    """

    queue: str
    at: datetime
    paused: bool
    waiting: int
    at_least: bool
    oldest_seconds: float | None
    running: int
    arriving_per_second: float
    finishing_per_second: float
    run_seconds: float | None
    workers: int
    draining_workers: int
    slots: int
    drain_seconds: float
    slots_each: int
    desired_slots: int
    desired_workers: int
    because: Because
    text: str


def scaling(
    queue: str | None = None, aim: Aim | None = None, *, schema: str = DEFAULT_SCHEMA
) -> Flow[list[Scaling]]:
    """Every queue, the most urgent first, or one.

    Raises:
        UnknownQueue: with what exists and what was probably meant.
    """
    if queue is not None:
        queue = match_queue(queue, (yield queues.read_queue_names(schema=schema)))
    loads: store.Loads = yield store.read_scaling(queue, schema=schema)
    return [decided(name, at, load, aim or Aim()) for name, (at, load) in loads.items()]


def decided(queue: str, at: datetime, load: Load, aim: Aim) -> Scaling:
    """What a queue needs for an aim, by what was measured."""
    found = wanted(load, aim)
    return Scaling(
        queue=queue,
        at=at,
        paused=load.paused,
        waiting=load.waiting,
        at_least=load.at_least,
        oldest_seconds=load.oldest_seconds,
        running=load.running,
        arriving_per_second=load.arriving,
        finishing_per_second=load.finishing,
        run_seconds=load.run_seconds,
        workers=load.workers,
        draining_workers=load.draining,
        slots=load.slots,
        drain_seconds=found.drain_seconds,
        slots_each=found.slots_each,
        desired_slots=found.slots,
        desired_workers=found.workers,
        because=found.because,
        text=found.text,
    )
