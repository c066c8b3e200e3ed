"""All cases, in the order in which help shows them."""

from __future__ import annotations

from postmill.bench.case import Case
from postmill.bench.cases import (
    beside,
    console,
    enqueue,
    latency,
    limits,
    pinned,
    schedules,
    soak,
    telemetry,
    throughput,
    wal,
)

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        throughput.CASE,
        latency.CASE,
        enqueue.CASE,
        pinned.CASE,
        beside.BACKLOG,
        beside.SCHEDULED,
        beside.HISTORY,
        beside.LANES,
        limits.CASE,
        wal.CASE,
        soak.CASE,
        schedules.CASE,
        telemetry.CASE,
        console.CASE,
    )
}
