"""Does a worker grow or tire over a million jobs?"""

from __future__ import annotations

from typing import Any

from postmill.bench.case import Case, Figures, Option
from postmill.bench.drain import drain, figures, verify
from postmill.bench.place import Place

JOBS = Option("jobs", int, 1_000_000, "jobs run down by one worker process", least=100)


def measure(place: Place, options: dict[str, Any]) -> Figures:
    """A worker over all jobs; the limit over a fifth of them."""
    jobs = options["jobs"]
    with place.ground() as ground:
        ground.fill(jobs // 5)
        limit = drain(ground, "limit", jobs // 5)
    with place.ground() as ground:
        ground.fill(jobs)
        worker = drain(ground, "worker", jobs)
        verify(ground, jobs)
    return figures(
        worker,
        limit,
        flatness=round(worker.flatness, 3),
        rss_bytes=worker.memory[-1][1],
        rss_growth_bytes=worker.growth,
        tenths_per_s=[round(rate) for rate in worker.curve.tenths(jobs)],
    )


CASE = Case(
    "soak",
    "A long drain: rate of the last tenth beside the first, and the growth of the worker's memory.",
    (JOBS,),
    measure,
)
