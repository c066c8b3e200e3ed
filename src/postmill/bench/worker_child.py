"""A worker process as `postmill worker` runs it, which tells how far it is: `python -m postmill.bench.worker_child`."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import nullcontext
from typing import Any

import uvloop

from postmill.bench import wire
from postmill.bench.jobs import QUEUE, REGISTRY, STARTS
from postmill.bench.watched import watched
from postmill.engine.config import WorkerConfig
from postmill.engine.garbage import calm
from postmill.engine.worker import Worker
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.logs import log_subscriber


async def main(order: dict[str, Any]) -> None:
    """Work until the parent says stop."""
    bus, counters = Bus(), Counters()
    telemetry = order.get("telemetry")
    if telemetry is None:
        log_subscriber(sys.stderr, "auto", "warning").subscribe(bus)
    words = wire.Words()
    config = WorkerConfig(poll_interval=order.get("poll_interval", 10.0), statistics=telemetry != "off")
    worker = Worker(
        order["dsn"],
        REGISTRY,
        {QUEUE: order["slots"]},
        schema=order["schema"],
        config=config,
        bus=bus,
        counters=counters,
    )
    running = asyncio.create_task(worker.run())
    ready = asyncio.create_task(worker.ready.wait())
    await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        running.result()
    calm()
    with watched(bus, counters) if telemetry == "on" else nullcontext():
        wire.tell(ready=True)
        await words.go.wait()
        began = time.process_time()
        await words.report(
            lambda: counters.reports,
            running,
            lambda: {"heard": sum(counters.notifications.values()), "starts": _starts()},
        )
        cpu = time.process_time() - began
    worker.drain()
    await running
    wire.tell(
        ended=True,
        cpu=cpu,
        reports=counters.reports,
        claims=counters.claims,
        batches=counters.report_batches,
    )


def _starts() -> list[tuple[int, float]]:
    """What the job `stamp` noted since the last call."""
    starts = STARTS[:]
    del STARTS[: len(starts)]
    return starts


if __name__ == "__main__":
    uvloop.run(main(wire.order()))
