"""The same drain with a burden and without: backlog, scheduled, history, lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from postmill.bench.case import Case, Figures, Option
from postmill.bench.drain import Drained, Kind, drain, figures, verify
from postmill.bench.ground import Ground
from postmill.bench.place import Place

JOBS = Option("jobs", int, 100_000, "jobs measured, with the burden and without", least=100)


def rows(default: int, help: str) -> Option:
    """The size of the burden."""
    return Option("rows", int, default, help)


BOTH: tuple[Kind, Kind] = ("worker", "limit")
ROUNDS = Option("rounds", int, 2, "drains of each kind in turn, of which the quickest counts")


def beside(
    place: Place,
    options: Mapping[str, Any],
    *,
    burden: Callable[[Ground], None] = lambda ground: None,
    lanes: int = 1,
    waiting: int = 0,
    before: int = 0,
) -> Figures:
    """Drains without the burden and with it take turns, in two schemas. `flatness` is with ÷ without.

    Args:
        options: `jobs` to measure, `rounds`.
        burden: lays it down in a fresh schema.
        lanes: over so many the jobs are spread.
        waiting: so many more jobs wait than are measured.
        before: outcomes that the burden brings.
    """
    count = options["jobs"]
    found: dict[str, list[Drained]] = {"plain": [], "worker": [], "limit": []}
    with place.ground("_plain") as plain, place.ground() as burdened:
        burden(burdened)
        if waiting:
            burdened.fill(waiting, lanes=lanes)
        for done in range(options["rounds"]):
            plain.fill(count)
            found["plain"].append(drain(plain, "worker", count))
            verify(plain, (done + 1) * count)
            for n, kind in enumerate(BOTH):
                burdened.fill(count, lanes=lanes)
                found[kind].append(drain(burdened, kind, count))
                verify(burdened, (2 * done + n + 1) * count, left=waiting, before=before)
    best = {name: max(runs, key=lambda run: run.rate) for name, runs in found.items()}
    return figures(
        best["worker"],
        best["limit"],
        plain_per_s=round(best["plain"].rate),
        flatness=round(best["worker"].rate / best["plain"].rate, 3),
    )


def _backlog(place: Place, options: dict[str, Any]) -> Figures:
    return beside(place, options, waiting=max(0, options["rows"] - options["jobs"]))


def _scheduled(place: Place, options: dict[str, Any]) -> Figures:
    return beside(place, options, burden=lambda ground: ground.fill(options["rows"], delay="30 days"))


def _history(place: Place, options: dict[str, Any]) -> Figures:
    before = options["rows"]
    return beside(place, options, burden=lambda ground: ground.fill_history(before), before=before)


def _lanes(place: Place, options: dict[str, Any]) -> Figures:
    return beside(place, options, lanes=options["rows"])


BACKLOG = Case(
    "backlog",
    "A drain with many jobs queued beside one with few.",
    (JOBS, rows(1_000_000, "jobs queued when the clock starts"), ROUNDS),
    _backlog,
)
SCHEDULED = Case(
    "scheduled",
    "A drain with many jobs due in the future beside one with none.",
    (JOBS, rows(1_000_000, "jobs that are due in 30 days"), ROUNDS),
    _scheduled,
)
HISTORY = Case(
    "history",
    "A drain with many finished jobs beside one with none.",
    (JOBS, rows(10_000_000, "finished jobs, written straight into the tables (about 0.6 KB each)"), ROUNDS),
    _history,
)
LANES = Case(
    "lanes",
    "A drain of jobs in many lanes, in turn, beside one of a single lane.",
    (JOBS, rows(10_000, "lanes, that is tenants"), ROUNDS),
    _lanes,
)
