"""How quickly jobs are enqueued: in bulk, and one a commit."""

from __future__ import annotations

from typing import Any

from postmill.bench.case import BenchError, Case, Figures, Option
from postmill.bench.ground import Ground
from postmill.bench.place import Place
from postmill.bench.produce import best

JOBS = Option("jobs", int, 100_000, "rows of a bulk enqueue", least=100)
COMMITS = Option(
    "commits", int, 3_000, "single-row commits of one client; four times as many of more", least=20
)
CLIENTS = Option("clients", str, "1,8,32", "numbers of clients that commit single rows at a time")
ROUNDS = Option("rounds", int, 2, "runs of each, of which the better one counts")


def measure(place: Place, options: dict[str, Any]) -> Figures:
    """Bulk by one and by two connections beside bare rows; single rows beside bare inserts of body and ticket."""
    rounds, jobs = options["rounds"], options["jobs"]
    many = _numbers(options["clients"])
    with place.ground() as ground:
        ground.pause()
        bulk, alone = best(ground, ("bulk", "rows_alone"), jobs, clients=1, rounds=rounds)
        two, alone_two = best(ground, ("bulk", "rows_alone"), jobs, clients=2, rounds=rounds)
        single = {n: _single(ground, options["commits"], n, rounds) for n in many}
    return {
        "jobs": bulk.rows,
        "jobs_per_s": round(bulk.rate),
        "limit_per_s": round(alone.rate),
        "ratio": round(bulk.rate / alone.rate, 3),
        "rows_per_s": round(bulk.rate),
        "two_clients": {
            "rows_per_s": round(two.rate),
            "limit_per_s": round(alone_two.rate),
            "ratio": round(two.rate / alone_two.rate, 3),
        },
        "commits_per_s": single[many[0]]["commits_per_s"],
        "commits": {str(n): figures for n, figures in single.items()},
    }


def _single(ground: Ground, commits: int, clients: int, rounds: int) -> dict[str, float]:
    total = max(clients, commits * min(clients, 4))
    ours, bare = best(ground, ("enqueue", "two_rows"), total, clients=clients, rounds=rounds)
    return {
        "commits_per_s": round(ours.rate),
        "limit_per_s": round(bare.rate),
        "ratio": round(ours.rate / bare.rate, 3),
    }


def _numbers(text: str) -> list[int]:
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1 or max(found) > 64:
        raise BenchError(f"clients is a list of numbers from 1 to 64 like 1,8,32, not {text!r}")
    return found


CASE = Case(
    "enqueue",
    "Bulk enqueue in rows a second and single-row commits a second, each beside bare inserts.",
    (JOBS, COMMITS, CLIENTS, ROUNDS),
    measure,
)
