"""How much write-ahead log a job costs from enqueue to outcome."""

from __future__ import annotations

from typing import Any

from postmill.bench.case import Case, Figures, Option
from postmill.bench.drain import Kind, drain, figures, verify
from postmill.bench.ground import Ground
from postmill.bench.place import Place
from postmill.bench.produce import Mode, produce

JOBS = Option("jobs", int, 100_000, "jobs enqueued in bulk", least=100)
COMMITS = Option("commits", int, 5_000, "jobs enqueued one a commit, by eight clients", least=20)


def measure(place: Place, options: dict[str, Any]) -> Figures:
    """Bulk by a worker and by the bare loop; single commits apart. Everything that the server writes counts."""
    with place.ground() as ground:
        limit, bare = _cost(ground, "rows_alone", "limit", options["jobs"])
    with place.ground() as ground:
        worker, bulk = _cost(ground, "bulk", "worker", options["jobs"])
    with place.ground() as ground:
        _, single = _cost(ground, "enqueue", "worker", options["commits"], clients=8)
    return figures(
        worker,
        limit,
        wal_bytes_per_job=round(bulk),
        limit_wal_bytes_per_job=round(bare),
        single_wal_bytes_per_job=round(single),
    )


def _cost(ground: Ground, mode: Mode, kind: Kind, jobs: int, *, clients: int = 1) -> tuple[Any, float]:
    ground.pause()
    ground.settle()
    before = ground.wal()
    made = produce(ground, mode, jobs, clients=clients).rows
    extra = clients * 10 if mode == "enqueue" else 0
    drained = drain(ground, kind, made + extra, settle=False)
    cost = (ground.wal() - before) / (made + extra)
    verify(ground, made + extra)
    ground.place.progress(f"{mode}, {kind}: {cost:,.0f} bytes of WAL a job")
    return drained, cost


CASE = Case(
    "wal",
    "Bytes of write-ahead log per job, from enqueue to outcome: in bulk, and with single-row commits.",
    (JOBS, COMMITS),
    measure,
)
