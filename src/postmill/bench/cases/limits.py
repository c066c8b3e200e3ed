"""The same drain with limits over the whole fleet and without."""

from __future__ import annotations

from typing import Any

from postmill.bench.case import Case, Figures, Option
from postmill.bench.cases.beside import JOBS, ROUNDS
from postmill.bench.drain import Drained, drain, verify
from postmill.bench.jobs import QUEUE
from postmill.bench.place import Place

PROCESSES = Option("processes", int, 1, "worker processes")
RUNNING = Option("running", int, 2000, "how many jobs the limit lets run at once, of each key")
KEYS = Option("keys", int, 1, "how many keys the limit counts each for itself; 1: all jobs together")


def measure(place: Place, options: dict[str, Any]) -> Figures:
    """Drains without the limit and with it take turns; the quickest of each counts. `ratio` is with ÷ without."""
    jobs, processes, keys = options["jobs"], options["processes"], options["keys"]
    found: dict[str, list[Drained]] = {"without": [], "with": []}
    with place.ground("_plain") as plain, place.ground() as limited:
        per = ["tenant"] if keys > 1 else []
        limited.run("limits/set_limit", "queue", QUEUE, per, options["running"], None, "bench", None, None)
        for done in range(options["rounds"]):
            for name, ground in (("without", plain), ("with", limited)):
                ground.fill(jobs, lanes=keys)
                found[name].append(drain(ground, "worker", jobs, processes=processes))
                verify(ground, (done + 1) * jobs)
    best = {name: max(runs, key=lambda run: run.rate) for name, runs in found.items()}
    return {
        "jobs": jobs,
        "keys": keys,
        "running": options["running"],
        "jobs_per_s": round(best["with"].rate),
        "without_per_s": round(best["without"].rate),
        "ratio": round(best["with"].rate / best["without"].rate, 3),
        "cpu_us_per_job": round(best["with"].cpu / best["with"].done * 1e6, 2),
        "claims": best["with"].claims,
    }


CASE = Case(
    "limits",
    "No-op jobs under a limit over the whole fleet, beside the same jobs without.",
    (JOBS, PROCESSES, RUNNING, KEYS, ROUNDS),
    measure,
)
