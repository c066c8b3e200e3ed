"""Runs a real worker until nothing is left to do."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from postmill import bind, connections
from postmill.domain.duration import seconds
from postmill.domain.errors import WaitTimeout
from postmill.domain.registry import Registry, Source
from postmill.engine.config import WorkerConfig
from postmill.engine.worker import Worker
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.testing import unfinished
from postmill.telemetry.bus import Bus
from postmill.telemetry.event import JobEvent
from postmill.telemetry.events import (
    JobCanceled,
    JobCompleted,
    JobDeadLettered,
    JobFailed,
    JobRetryScheduled,
    JobSnoozed,
)
from postmill.testing.performing import finished

SLOTS = 10
LOOK_EVERY = 0.01
"""Seconds."""


@dataclass(frozen=True, slots=True)
class Drained:
    """How many jobs succeeded, wait for another attempt (`retried`, `snoozed`), were canceled, were given up (`buried`).

    `errors` are the messages of attempts that failed, with the names of their types.
    """

    succeeded: int = 0
    retried: int = 0
    snoozed: int = 0
    canceled: int = 0
    buried: int = 0
    errors: tuple[str, ...] = field(default=())


_COUNTED: Mapping[type[JobEvent], str] = {
    JobCompleted: "succeeded",
    JobRetryScheduled: "retried",
    JobSnoozed: "snoozed",
    JobCanceled: "canceled",
    JobDeadLettered: "buried",
}


async def adrain(
    dsn: str, *sources: Source, timeout: float = 30.0, schema: str = DEFAULT_SCHEMA, **config: Any
) -> Drained:
    """Runs the jobs that are due, and those that they enqueue, until none is left; what was not committed is not seen.

    Jobs that are due later (a delay, the next attempt) stay: move a frozen clock, and drain again.

    Args:
        dsn: connection string of the test's database.
        sources: job types, or modules and registries that hold them.
        timeout: seconds that it may take.
        config: fields of WorkerConfig.

    Raises:
        WaitTimeout: it is not done in time.
        what a worker raises.
    """
    registry = Registry.collect(*sources)
    counts: Counter[str] = Counter()
    errors: list[str] = []

    def count(event: JobEvent) -> None:
        counts[_COUNTED[type(event)]] += 1

    def keep(event: JobFailed) -> None:
        errors.append(f"{event.job.job_type}: {event.error_class}: {event.error_message}")

    bus = Bus()
    bus.subscribe(count, *_COUNTED)
    bus.subscribe(keep, JobFailed)
    how = WorkerConfig(**{"grace": 5.0, "poll_interval": 0.2, **config})
    worker = Worker(dsn, registry, dict.fromkeys(registry.queues, SLOTS), schema=schema, config=how, bus=bus)
    names = [name for job_type in registry for name in (job_type.name, *job_type.aliases)]
    left = unfinished(names, schema=schema)
    deadline = time.monotonic() + seconds(timeout, "timeout")
    async with await connections.aconnect(dsn, "postmill-drain") as conn:
        running = asyncio.create_task(worker.run())
        try:
            while not (worker.ready.is_set() and await bind.arun(conn, left) == 0):
                if running.done():
                    break
                if time.monotonic() > deadline:
                    raise WaitTimeout(f"jobs of {', '.join(registry.names)} were not done in {timeout:g} s")
                await asyncio.sleep(LOOK_EVERY)
        finally:
            worker.drain()
            await running
    return Drained(**counts, errors=tuple(errors))


def drain(
    dsn: str, *sources: Source, timeout: float = 30.0, schema: str = DEFAULT_SCHEMA, **config: Any
) -> Drained:
    """`adrain` for tests that block."""
    return finished(adrain(dsn, *sources, timeout=timeout, schema=schema, **config))
