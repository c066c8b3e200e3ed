"""Does a long transaction elsewhere slow the work down?"""

from __future__ import annotations

from typing import Any

from postmill.bench.case import Case, Figures, Option
from postmill.bench.drain import drain, figures, verify
from postmill.bench.place import Place

JOBS = Option("jobs", int, 500_000, "jobs run down while one transaction stays open", least=100)


def measure(place: Place, options: dict[str, Any]) -> Figures:
    """The limit first, then a worker, both with the horizon pinned from before the first enqueue."""
    jobs = options["jobs"]
    found = []
    for kind in ("limit", "worker"):
        with place.ground() as ground, ground.pinned():
            ground.fill(jobs)
            found.append(drain(ground, kind, jobs))
            verify(ground, jobs)
    limit, worker = found
    return figures(
        worker,
        limit,
        flatness=round(worker.flatness, 3),
        limit_flatness=round(limit.flatness, 3),
        tenths_per_s=[round(rate) for rate in worker.curve.tenths(jobs)],
    )


CASE = Case(
    "pinned",
    "A drain while a REPEATABLE READ transaction holds back vacuum: last tenth beside first tenth.",
    (JOBS,),
    measure,
)
