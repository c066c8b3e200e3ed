"""What it costs to be watched: the same jobs with everything on, and with everything off."""

from __future__ import annotations

from typing import Any

from postmill.bench.case import Case, Figures, Option
from postmill.bench.drain import Drained, drain, verify
from postmill.bench.place import Place

JOBS = Option("jobs", int, 100_000, "no-op jobs of each part", least=100)
ROUNDS = Option("rounds", int, 3, "pairs of parts, the second of which begins with the other kind")


def measure(place: Place, options: dict[str, Any]) -> Figures:
    """Parts in turns, off and on, each on a schema of its own, filled alike."""
    jobs = options["jobs"]
    found: dict[str, list[Drained]] = {"off": [], "on": []}
    for number in range(options["rounds"]):
        for kind in ("off", "on") if number % 2 == 0 else ("on", "off"):
            with place.ground() as ground:
                ground.fill(jobs)
                found[kind].append(drain(ground, "worker", jobs, telemetry=kind))
                verify(ground, jobs)
    rates = {
        kind: len(parts) * jobs / sum(one.curve.seconds(jobs) for one in parts)
        for kind, parts in found.items()
    }
    cpu = {
        kind: sum(one.cpu for one in parts) / sum(one.done for one in parts) * 1e6
        for kind, parts in found.items()
    }
    return {
        "jobs": jobs,
        "jobs_per_s": round(rates["on"]),
        "limit_per_s": round(rates["off"]),
        "ratio": round(rates["on"] / rates["off"], 3),
        "cpu_us_per_job": round(cpu["on"], 2),
        "limit_cpu_us_per_job": round(cpu["off"], 2),
    }


CASE = Case(
    "telemetry",
    "No-op jobs with metrics scraped, logs, rollups and error groups, beside the same with nothing of it.",
    (JOBS, ROUNDS),
    measure,
)
