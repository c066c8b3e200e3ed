"""Running down waiting jobs, by Postmill's workers or by the bare loop, and how that went."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

from postmill.bench.case import BenchError
from postmill.bench.curve import Curve
from postmill.bench.fleet import Fleet
from postmill.bench.ground import Ground

MODULES = {"worker": "postmill.bench.worker_child", "limit": "postmill.bench.limit_child"}
SLOTS = 200
PATIENCE = 120.0
TOLD_EVERY = 5.0

Kind = Literal["worker", "limit"]


@dataclass(frozen=True, slots=True)
class Drained:
    """How a drain went.

    Attributes:
        jobs: so many were measured.
        curve: how many were reported when.
        done: so many were done in all, the ones after the measured included.
        memory: (jobs done, bytes held by the processes together) at each look.
        cpu: seconds of processor time of the worker processes.
        claims: claim statements.
        batches: report statements.
    """

    jobs: int
    curve: Curve
    done: int
    memory: list[tuple[int, int]]
    cpu: float
    claims: int
    batches: int

    @property
    def rate(self) -> float:
        """Jobs per second."""
        return self.curve.rate(self.jobs)

    @property
    def flatness(self) -> float:
        """Rate of the last tenth ÷ rate of the first."""
        return self.curve.flatness(self.jobs)

    @property
    def growth(self) -> int:
        """Bytes by which the processes' memory grew from the first quarter of the jobs to the end."""
        early = [held for done, held in self.memory if done <= self.jobs // 4]
        return self.memory[-1][1] - early[-1] if early and self.memory else 0


def drain(
    ground: Ground,
    kind: Kind,
    jobs: int,
    *,
    processes: int = 1,
    keep: str = "all",
    settle: bool = True,
    telemetry: str | None = None,
) -> Drained:
    """Run `jobs` of the waiting jobs. The queue is paused until all processes are ready and the tables settled.

    Time starts with the opening of the queue and ends when reports of so many jobs are written.

    `telemetry`: on | off; None: what a worker does of itself.
    """
    order = ground.order(slots=SLOTS, keep=keep) | {"telemetry": telemetry}
    ground.pause()
    with Fleet(MODULES[kind], [order] * processes) as fleet:
        if kind == "worker":
            ground.await_listeners(processes)
        if settle:
            ground.settle()
        began = perf_counter()
        ground.resume()
        fleet.tell("go")
        curve, memory = _follow(ground, fleet, kind, jobs, processes, began)
        ended = fleet.stop()
    return Drained(
        jobs,
        curve,
        sum(last["reports"] for last in ended),
        memory,
        sum(last["cpu"] for last in ended),
        sum(last["claims"] for last in ended),
        sum(last["batches"] for last in ended),
    )


def _follow(
    ground: Ground, fleet: Fleet, kind: Kind, jobs: int, processes: int, began: float
) -> tuple[Curve, list[tuple[int, int]]]:
    points: list[list[tuple[float, int]]] = [[] for _ in range(processes)]
    done, held = [0] * processes, [0] * processes
    memory: list[tuple[int, int]] = []
    told_at = grown_at = began
    for number, message in fleet.messages(PATIENCE):
        points[number] += message["points"]
        before, held[number] = sum(done), message["rss"]
        at, done[number] = points[number][-1]
        total = sum(done)
        memory.append((total, sum(held)))
        if total >= jobs:
            break
        if total > before:
            grown_at = at
        elif at > grown_at + PATIENCE:
            raise BenchError(f"no job was done within {PATIENCE:.0f} s, after {total:,} of {jobs:,}")
        if at > told_at + TOLD_EVERY:
            told_at = at
            ground.place.progress(f"{kind}: {total:,} of {jobs:,}")
    curve = Curve.merged(began, points)
    ground.place.progress(f"{kind}: {curve.rate(jobs):,.0f} jobs/s")
    return curve, memory


def verify(ground: Ground, jobs: int, *, keep: str = "all", left: int = 0, before: int = 0) -> None:
    """Each job ran once and is where it belongs; BenchError says what is not.

    Args:
        jobs: so many were to be done at least; with `left` 0 exactly so many.
        left: so many of the enqueued may still wait (a drain that was stopped early).
        before: outcomes that were there before.
    """
    counts = ground.counts()
    if counts.dead:
        raise BenchError(f"{counts.dead} jobs became dead letters")
    done = counts.tallied if keep == "failures" else counts.outcomes - before
    if done + counts.tickets != jobs + left or done < jobs:
        raise BenchError(f"{done} done and {counts.tickets} waiting, of {jobs + left} jobs")
    if keep == "failures" and counts.bodies != counts.tickets:
        raise BenchError(f"{counts.bodies} bodies for {counts.tickets} tickets")


def figures(worker: Drained, limit: Drained, **more: Any) -> dict[str, Any]:
    """What every case that drains tells."""
    return {
        "jobs": worker.jobs,
        "seconds": round(worker.curve.seconds(worker.jobs), 4),
        "jobs_per_s": round(worker.rate),
        "limit_per_s": round(limit.rate),
        "ratio": round(worker.rate / limit.rate, 3),
        "cpu_us_per_job": round(worker.cpu / worker.done * 1e6, 2),
        "limit_cpu_us_per_job": round(limit.cpu / limit.done * 1e6, 2),
        **more,
    }
