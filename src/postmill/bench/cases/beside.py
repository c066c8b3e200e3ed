"""The same drain with a burden and without: backlog, scheduled, history, lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postmill.bench.case import Case, Figures, Option
from postmill.bench.drain import drain, figures, verify
from postmill.bench.ground import Ground
from postmill.bench.place import Place


def jobs(default: int = 100_000) -> Option:
    """So many jobs are measured, with the burden and without."""
    return Option("jobs", int, default, "jobs measured, with the burden and without", least=100)


def rows(default: int, help: str) -> Option:
    """The size of the burden."""
    return Option("rows", int, default, help)


def beside(
    place: Place,
    count: int,
    *,
    burden: Callable[[Ground], None] = lambda ground: None,
    lanes: int = 1,
    waiting: int = 0,
    before: int = 0,
) -> Figures:
    """A worker without the burden; then, with it, a worker and the limit. `flatness` is with ÷ without.

    Args:
        count: jobs to measure.
        burden: lays it down in a fresh schema.
        lanes: over so many the jobs are spread.
        waiting: so many more jobs wait than are measured.
        before: outcomes that the burden brings.
    """
    with place.ground() as ground:
        ground.fill(count)
        plain = drain(ground, "worker", count)
        verify(ground, count)
    with place.ground() as ground:
        burden(ground)
        ground.fill(count + waiting, lanes=lanes)
        worker = drain(ground, "worker", count)
        verify(ground, count, left=waiting, before=before)
        ground.fill(count, lanes=lanes)
        limit = drain(ground, "limit", count)
        verify(ground, 2 * count, left=waiting, before=before)
    return figures(worker, limit, plain_per_s=round(plain.rate), flatness=round(worker.rate / plain.rate, 3))


def _backlog(place: Place, options: dict[str, Any]) -> Figures:
    return beside(place, options["jobs"], waiting=max(0, options["rows"] - options["jobs"]))


def _scheduled(place: Place, options: dict[str, Any]) -> Figures:
    return beside(place, options["jobs"], burden=lambda ground: ground.fill(options["rows"], delay="30 days"))


def _history(place: Place, options: dict[str, Any]) -> Figures:
    before = options["rows"]
    return beside(place, options["jobs"], burden=lambda ground: ground.fill_history(before), before=before)


def _lanes(place: Place, options: dict[str, Any]) -> Figures:
    return beside(place, options["jobs"], lanes=options["rows"])


BACKLOG = Case(
    "backlog",
    "A drain with many jobs queued beside one with few.",
    (jobs(), rows(1_000_000, "jobs queued when the clock starts")),
    _backlog,
)
SCHEDULED = Case(
    "scheduled",
    "A drain with many jobs due in the future beside one with none.",
    (jobs(), rows(1_000_000, "jobs that are due in 30 days")),
    _scheduled,
)
HISTORY = Case(
    "history",
    "A drain with many finished jobs beside one with none.",
    (jobs(), rows(10_000_000, "finished jobs, written straight into the tables (about 0.6 KB each)")),
    _history,
)
LANES = Case(
    "lanes",
    "A drain of jobs in many lanes, in turn, beside one of a single lane.",
    (jobs(), rows(10_000, "lanes, that is tenants")),
    _lanes,
)
