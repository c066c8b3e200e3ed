"""How late are the jobs of many schedules that are due at the same moment?"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from postmill.bench.case import BenchError, Case, Figures, Option
from postmill.bench.curve import percentiles
from postmill.bench.ground import Ground
from postmill.bench.jobs import noop
from postmill.bench.place import Place
from postmill.engine.link import Link
from postmill.engine.outage import Outage
from postmill.engine.upkeep.scheduler import Scheduler
from postmill.engine.upkeep.ticks import work_for
from postmill.store.firing import due_triggers, fire_ticks
from postmill.store.flow import once
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters

SCHEDULES = Option("schedules", int, 100_000, "schedules in the table, nearly all waiting", least=100)
DUE = Option("due", int, 1_000, "schedules that are due at one moment", least=10)
ROUNDS = Option("rounds", int, 5, "such moments", least=1)

AHEAD = "500 milliseconds"
WITHIN = 60.0


def measure(place: Place, options: dict[str, Any]) -> Figures:
    """The statement that fires alone, and then the scheduler, which looks, computes, renders and fires."""
    schedules, due, rounds = options["schedules"], options["due"], options["rounds"]
    with place.ground() as ground:
        place.progress(f"writing {schedules:,} schedules")
        ground.run("bench/fill_schedules", noop.name, schedules)
        ground.settle()
        return asyncio.run(_measure(ground, due, rounds)) | {"schedules": schedules, "due": due}


async def _measure(ground: Ground, due: int, rounds: int) -> Figures:
    bus, counters = Bus(), Counters("bench")
    link = Link(ground.place.dsn, ground.schema, "schedule", Outage(bus, "bench"), raw=False)
    scheduler = Scheduler(link, bus, "bench", counters)
    try:
        limit = await _alone(ground, link, due)
        idle = await _probe(scheduler)
        spent, lags = 0.0, 0
        for number in range(rounds):
            ground.place.progress(f"{due:,} schedules due at one moment, {number + 1} of {rounds}")
            before = counters.ticks.get("enqueued", 0)
            ground.run("bench/due_schedules", due, AHEAD)
            spent += await _until(scheduler, counters, before + due)
            lags += due
    finally:
        await link.close()
    late = [row[0] * 1000 for row in ground.run("bench/tick_lags")][-lags:]
    rate = lags / spent
    return {
        "late": percentiles(late),
        "idle_look_ms": round(idle * 1000, 3),
        "jobs_per_s": round(rate),
        "limit_per_s": round(limit),
        "ratio": round(rate / limit, 3),
    }


async def _alone(ground: Ground, link: Link, due: int) -> float:
    """Ticks a second of the statement itself, with everything worked out beforehand."""
    ground.run("bench/due_schedules", due, "0")
    found = await link.drive(once(due_triggers(None, due, schema=ground.schema)))
    work = await link.drive(work_for(ground.schema, found))
    began = time.perf_counter()
    fired = await link.drive(once(fire_ticks(work.ticks, schema=ground.schema)))
    seconds = time.perf_counter() - began
    if sum(it.outcome == "enqueued" for it in fired) != due:
        raise BenchError("not every tick made a job")
    return due / seconds


async def _probe(scheduler: Scheduler) -> float:
    """Seconds that a look costs where nothing is due."""
    began = time.perf_counter()
    for _ in range(50):
        await scheduler.guarded()
    return (time.perf_counter() - began) / 50


async def _until(scheduler: Scheduler, counters: Counters, ticks: int) -> float:
    """Rounds as a worker runs them, until so many ticks made a job; the seconds in which it worked."""
    until = time.monotonic() + WITHIN
    spent = 0.0
    while counters.ticks.get("enqueued", 0) < ticks:
        began = time.perf_counter()
        pause = await scheduler.guarded()
        cost = time.perf_counter() - began
        spent += cost if cost > 0.01 else 0.0
        await scheduler.nap(max(pause or 0.0, cost / scheduler.share - cost))
        if time.monotonic() > until:
            raise BenchError(
                f"{ticks - counters.ticks.get('enqueued', 0)} ticks were not fired in {WITHIN:.0f} s"
            )
    return spent


CASE = Case(
    "schedules",
    "Many schedules, a thousand of them due at one moment: how late their jobs are.",
    (SCHEDULES, DUE, ROUNDS),
    measure,
)
