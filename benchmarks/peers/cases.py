"""The measured cases, the same for every peer."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import psycopg

from benchmarks.peers.peers import Peer
from benchmarks.peers.place import Place
from benchmarks.peers.program import CaseFailed, Program, once

WARM_UPS = 20
GAP = (0.02, 0.04)
LOOK_AGAIN = 0.002
SETTLED_WITHIN = 60.0

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bench:
    """One peer at one server."""

    peer: Peer
    command: Sequence[str]
    place: Place
    variables: Mapping[str, str]

    def environment(self, database: str) -> dict[str, str]:
        """What the peer's program needs in its environment."""
        return {**self.place.environment(database), **self.variables}

    async def call(self, database: str, verb: str, argument: object, key: str) -> Figures:
        """Runs the peer's program once for a verb."""
        return await once([*self.command, verb, str(argument)], self.environment(database), key)

    def count(self, connection: psycopg.Connection[tuple[Any, ...]], query: str) -> int:
        """A count in the peer's own tables."""
        row = connection.execute(query.encode()).fetchone()
        return int(row[0]) if row else 0


async def bulk(bench: Bench, database: str, jobs: int) -> Figures:
    """Enqueues all jobs from one client in the peer's own batches, and checks that they are there."""
    await bench.call(database, "install", "", "installed")
    told = await bench.call(database, "bulk", jobs, "seconds")
    with bench.place.connect(database) as connection:
        there = bench.count(connection, bench.peer.unfinished)
    if there != jobs:
        raise CaseFailed(f"{there} jobs in the table after enqueuing {jobs}")
    return {"jobs": jobs, "seconds": round(told["seconds"], 4), "rows_per_s": round(jobs / told["seconds"])}


async def drain(bench: Bench, database: str, jobs: int, processes: int) -> Figures:
    """Runs the waiting jobs with so many worker processes.

    Timed from the first handler's start until the peer's own tables say that all jobs are done.
    """
    bench.place.settle(database)
    environment = bench.environment(database)
    counts = [0] * processes
    firsts = [0] * processes

    async def follow(number: int, worker: Program, enough: Callable[[], bool]) -> None:
        while not enough():
            told = await worker.hear_of("count")
            counts[number], firsts[number] = told["count"], told["first"]

    async with AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(Program([*bench.command, "work"], environment))
            for _ in range(processes)
        ]
        for worker in workers:
            await worker.hear_of("ready")
        for worker in workers:
            worker.tell("go")
        following = [
            asyncio.create_task(follow(number, worker, lambda: sum(counts) >= jobs))
            for number, worker in enumerate(workers)
        ]
        try:
            while sum(counts) < jobs:
                done, _ = await asyncio.wait(following, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            for task in following:
                task.cancel()
            await asyncio.gather(*following, return_exceptions=True)
        end = await _all_done(bench, database, jobs)
        for number, worker in enumerate(workers):
            worker.tell("stop")
            counts[number] = (await worker.last_of("count"))["count"]
    if sum(counts) != jobs:
        raise CaseFailed(f"handlers ran {sum(counts)} times for {jobs} jobs")
    seconds = (end - min(first for first in firsts if first)) / 1e9
    return {"jobs": jobs, "seconds": round(seconds, 4), "jobs_per_s": round(jobs / seconds), "shares": counts}


async def _all_done(bench: Bench, database: str, jobs: int) -> int:
    """Waits until the peer's own tables say that all jobs are done; when that was, in nanoseconds."""
    deadline = time.monotonic() + SETTLED_WITHIN
    with bench.place.connect(database) as connection:
        while left := bench.count(connection, bench.peer.unfinished):
            if time.monotonic() > deadline:
                raise CaseFailed(f"{left} of {jobs} jobs never became done in the table")
            await asyncio.sleep(LOOK_AGAIN)
        end = time.monotonic_ns()
        if bench.peer.finished is not None and (kept := bench.count(connection, bench.peer.finished)) != jobs:
            raise CaseFailed(f"{kept} of {jobs} jobs are in the history")
    return end


async def single(bench: Bench, database: str, commits: int) -> Figures:
    """Enqueues one job a commit from one client, one after the other."""
    await bench.call(database, "install", "", "installed")
    bench.place.settle(database)
    told = await bench.call(database, "single", commits + 1, "seconds")
    rate = told["jobs"] / told["seconds"]
    return {"jobs": told["jobs"], "seconds": round(told["seconds"], 4), "commits_per_s": round(rate)}


async def latency(bench: Bench, database: str, samples: int) -> Figures:
    """From the enqueuing call's return to the handler's start, with an idle worker in another process."""
    await bench.call(database, "install", "", "installed")
    environment = bench.environment(database)
    waits: list[float] = []
    async with (
        Program([*bench.command, "work", "trace"], environment) as worker,
        Program([*bench.command, "ping"], environment) as client,
    ):
        await worker.hear_of("ready")
        await client.hear_of("ready")
        worker.tell("go")
        for number in range(samples + WARM_UPS):
            client.tell(str(number))
            sent = await client.hear_of("sent")
            while (started := await worker.hear_of("started"))["started"] != number:
                pass
            if number >= WARM_UPS:
                waits.append((started["at"] - sent["returned"]) / 1e6)
            # The worker must have gone back to sleep, and not in step with any timer of its own.
            await asyncio.sleep(random.uniform(*GAP))
        worker.tell("stop")
    return {"samples": samples, **percentiles(waits)}


def percentiles(values: Sequence[float]) -> Figures:
    """Median, 99th percentile and greatest of some milliseconds."""
    ordered = sorted(values)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 3)

    return {"p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": round(ordered[-1], 3)}
