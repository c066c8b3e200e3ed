"""Enqueuing by client processes, timed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from postmill.bench.fleet import Fleet
from postmill.bench.ground import Ground

MODULE = "postmill.bench.client_child"
MOST_PROCESSES = 4
"""Above so many, clients share processes as threads: the same layout for whatever is compared."""

WITHIN = 600.0
"""Seconds that one enqueuing may take."""

Mode = Literal["enqueue", "two_rows", "bulk", "rows_alone"]


@dataclass(frozen=True, slots=True)
class Produced:
    """So many rows in so many seconds, from the first client's start to the last one's end."""

    rows: int
    seconds: float

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.rows / max(self.seconds, 1e-9)


def produce(ground: Ground, mode: Mode, rows: int, *, clients: int = 1) -> Produced:
    """Let `clients` connections enqueue `rows` jobs together."""
    processes = min(clients, MOST_PROCESSES)
    threads = -(-clients // processes)
    each = max(1, rows // (processes * threads))
    order = ground.order(mode=mode, threads=threads, jobs=each)
    with Fleet(MODULE, [order] * processes) as fleet:
        fleet.tell("go")
        told = fleet.last("ended", WITHIN)
    seconds = max(t["done"] for t in told) - min(t["began"] for t in told)
    return Produced(each * processes * threads, seconds)


def best(ground: Ground, modes: tuple[Mode, Mode], rows: int, *, clients: int, rounds: int) -> list[Produced]:
    """The quickest run of each mode; the modes take turns, so that both meet the same weather."""
    found: list[list[Produced]] = [[] for _ in modes]
    for _ in range(rounds):
        for runs, mode in zip(found, modes, strict=True):
            runs.append(produce(ground, mode, rows, clients=clients))
        ground.settle()
    quickest = [max(runs, key=lambda run: run.rate) for runs in found]
    words = ", ".join(f"{mode} {run.rate:,.0f}/s" for mode, run in zip(modes, quickest, strict=True))
    ground.place.progress(f"{clients} client{'s' * (clients > 1)}: {words}")
    return quickest
