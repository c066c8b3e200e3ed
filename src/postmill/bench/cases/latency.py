"""How soon an idle worker starts a job that was just enqueued."""

from __future__ import annotations

import random
from time import monotonic, perf_counter
from typing import Any

from postmill import enqueue
from postmill.bench.case import BenchError, Case, Figures, Option
from postmill.bench.curve import percentiles
from postmill.bench.drain import SLOTS, drain
from postmill.bench.fleet import Fleet
from postmill.bench.ground import Ground
from postmill.bench.jobs import DATA, noop, stamp
from postmill.bench.place import Place

SAMPLES = Option("samples", int, 300, "single jobs, enqueued 30 to 110 ms apart", least=5)
JOBS = Option("jobs", int, 20_000, "jobs of a backlog during which NOTIFY is counted", least=100)

GAP = (0.03, 0.11)
WARM_UPS = 5
WITHIN = 20.0


def measure(place: Place, options: dict[str, Any]) -> Figures:
    """The bare loop first, then a worker; the client is this process, the worker another."""
    samples, busy = options["samples"], options["jobs"]
    with place.ground() as ground, Fleet("postmill.bench.pickup_child", [ground.order()]) as fleet:
        bare = _pick_ups(ground, fleet, samples)
        fleet.stop()
    with place.ground() as ground, Fleet("postmill.bench.worker_child", [ground.order(slots=SLOTS)]) as fleet:
        fleet.tell("go")
        waits = _pick_ups(ground, fleet, samples)
        heard = _rung_while_busy(ground, fleet, busy)
        fleet.stop()
    rates = []
    for kind in ("limit", "worker"):
        with place.ground() as ground:
            ground.fill(busy)
            rates.append(drain(ground, kind, busy).rate)
    return {
        "samples": samples,
        **percentiles(waits),
        "limit": percentiles(bare),
        "notified_while_busy": heard,
        "jobs_per_s": round(rates[1]),
        "limit_per_s": round(rates[0]),
        "ratio": round(rates[1] / rates[0], 3),
    }


def _pick_ups(ground: Ground, fleet: Fleet, samples: int) -> list[float]:
    """Milliseconds from the return of the enqueuing call to the handler's start."""
    ground.place.progress(f"{samples} single jobs, one every {GAP[0] * 1000:.0f} to {GAP[1] * 1000:.0f} ms")
    returned: dict[int, float] = {}
    started: dict[int, float] = {}
    for number in range(samples + WARM_UPS):
        started.update(_starts(fleet.listen(random.uniform(*GAP))))
        enqueue(ground.conn, stamp.new(number=number), schema=ground.schema)
        returned[number] = perf_counter()
    until = monotonic() + WITHIN
    while len(started) < len(returned):
        started.update(_starts(fleet.listen(0.05)))
        if monotonic() > until:
            raise BenchError(f"{len(returned) - len(started)} jobs were not started within {WITHIN:.0f} s")
    return [(started[n] - returned[n]) * 1000 for n in returned if n >= WARM_UPS]


def _starts(messages: list[dict[str, Any]]) -> list[tuple[int, float]]:
    return [(number, at) for message in messages for number, at in message.get("starts", ())]


def _rung_while_busy(ground: Ground, fleet: Fleet, jobs: int) -> int:
    """Notifications that a worker heard while it ran down a backlog and single jobs came in."""
    before = ground.counts().outcomes
    ground.fill(jobs)
    busy_from: int | None = None
    heard = reports = added = 0
    until = monotonic() + WITHIN
    while reports < before + jobs + added:
        for message in fleet.listen(0.005):
            reports, heard = message["points"][-1][1], message["heard"]
            if busy_from is None and reports > before:
                busy_from = heard
        if reports < before + jobs:
            enqueue(ground.conn, noop.new(data=DATA), schema=ground.schema)
            added += 1
        if monotonic() > until:
            raise BenchError(f"the backlog of {jobs} jobs was not run down within {WITHIN:.0f} s")
    return heard - (busy_from if busy_from is not None else heard)


CASE = Case(
    "latency",
    "From the return of an enqueuing call to the start of the handler in an idle worker.",
    (SAMPLES, JOBS),
    measure,
)
