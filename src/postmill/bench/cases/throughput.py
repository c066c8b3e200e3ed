"""How many jobs that do nothing are run down in a second."""

from __future__ import annotations

from typing import Any

from postmill.bench.case import Case, Figures, Option
from postmill.bench.drain import drain, figures, verify
from postmill.bench.place import Place

JOBS = Option("jobs", int, 300_000, "no-op jobs with 100 bytes of payload", least=100)
PROCESSES = Option("processes", int, 1, "worker processes")
KEEP = Option("keep", str, "all", "what the job's definition keeps", choices=("all", "failures"))


def measure(place: Place, options: dict[str, Any]) -> Figures:
    """The limit first, then the workers, each on a schema of its own, filled alike."""
    jobs, processes, keep = options["jobs"], options["processes"], options["keep"]
    found = []
    for kind in ("limit", "worker"):
        with place.ground() as ground:
            ground.fill(jobs, keep=keep)
            found.append(drain(ground, kind, jobs, processes=processes, keep=keep))
            verify(ground, jobs, keep=keep)
    limit, worker = found
    return figures(
        worker,
        limit,
        flatness=round(worker.flatness, 3),
        claims=worker.claims,
        report_batches=worker.batches,
    )


CASE = Case(
    "throughput",
    "No-op coroutine jobs run down by worker processes, beside the same SQL in a bare loop.",
    (JOBS, PROCESSES, KEEP),
    measure,
)
