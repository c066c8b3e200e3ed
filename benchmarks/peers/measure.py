"""All measured cases of one peer, each in a database of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import psycopg

from benchmarks.peers import cases
from benchmarks.peers.peers import Peer
from benchmarks.peers.place import Place
from benchmarks.peers.program import CaseFailed
from benchmarks.peers.toolchain import Toolchain

# graphile-worker logs each success unless told otherwise; its own benchmark tells it so too.
QUIET = {"NO_LOG_SUCCESS": "1"}


@dataclass(frozen=True, slots=True)
class Size:
    """How much a run does: jobs to drain, single commits, pick-ups to time."""

    jobs: int
    commits: int
    samples: int


@dataclass(slots=True)
class Record:
    """What became of each case: its figures, or why it has none."""

    name: str
    figures: dict[str, Any] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)

    async def attempt(self, case: str, call: Callable[[], Awaitable[dict[str, Any]]]) -> bool:
        """Runs one case; of two runs of a case the faster one is kept.

        A failed case is named and does not stop the others; returns whether it went well.
        """
        try:
            figures = await call()
        except (CaseFailed, psycopg.Error) as error:
            self.not_run[case] = str(error)
            print(f"  {self.name} {case}: FAILED: {error}", file=sys.stderr)
            return False
        print(f"  {self.name} {case}: {figures}", file=sys.stderr)
        before = self.figures.get(case)
        if before is None or figures["seconds"] < before["seconds"]:
            self.figures[case] = figures
        return True


async def measure(peer: Peer, toolchain: Toolchain, place: Place, size: Size) -> dict[str, Any]:
    """The peer's part of the results."""
    variables = {**QUIET, "PEER_SETTINGS": json.dumps(peer.settings)}
    bench = cases.Bench(peer, toolchain.command(peer), place, variables)
    jobs = min(size.jobs, peer.most_jobs or size.jobs)
    record = Record(peer.name)
    for processes in (1, 2):
        with place.database(f"peers_{peer.slug}") as database:
            if await record.attempt("bulk", partial(cases.bulk, bench, database, jobs)):
                await record.attempt(
                    f"drain_{processes}", partial(cases.drain, bench, database, jobs, processes)
                )
    with place.database(f"peers_{peer.slug}") as database:
        await record.attempt("single", partial(cases.single, bench, database, size.commits))
    with place.database(f"peers_{peer.slug}") as database:
        await record.attempt("latency", partial(cases.latency, bench, database, size.samples))
    return {
        "name": peer.name,
        "version": toolchain.version(peer),
        "runtime": toolchain.runtime(peer),
        "history": peer.history,
        "settings": peer.settings,
        "most_jobs": peer.most_jobs,
        "figures": record.figures,
        "not_run": record.not_run,
    }
